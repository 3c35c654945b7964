package failure

import (
	"fmt"
	"strings"
	"testing"
)

const javaKindFile = "java/src/main/java/run/mulligan/plugin/Kind.java"

// javaKinds are the kinds as a Java enum.
func javaKinds(t *testing.T, about map[Kind]string) string {
	t.Helper()
	var constants strings.Builder
	for _, k := range Kinds() {
		fmt.Fprintf(&constants, "    /** %s */\n    %s(%q, %q, %t),\n", kindMeaning(t, about, k), strings.ToUpper(string(k)), k, k.Code(), k.Retryable())
	}
	unknown := fmt.Sprintf("%q, %t", KindUnknown.Code(), KindUnknown.Retryable())
	return "// " + generatedLine + `
package run.mulligan.plugin;

import java.util.Arrays;

/**
 * What went wrong. Newer hosts may send kinds that this version does not know: they are {@link #OTHER}, {@link
 * Failure#kindName()} has their names, and {@link Failure#retryable()} says whether the same input may succeed later.
 */
public enum Kind {
` + constants.String() + `    /** The host did not say. */
    NOT_SET("", ` + unknown + `),
    /** One that this version does not know. */
    OTHER("other", ` + unknown + `);

    private final String onWire;
    private final String code;
    private final boolean retryable;

    Kind(String onWire, String code, boolean retryable) {
        this.onWire = onWire;
        this.code = code;
        this.retryable = retryable;
    }

    /** The kind of this name on the wire. */
    static Kind of(String name) {
        return Arrays.stream(values())
                .filter(kind -> kind != OTHER && kind.onWire.equals(name))
                .findFirst()
                .orElse(OTHER);
    }

    /** The name on the wire, such as {@code rate_limit}. */
    String onWire() {
        return onWire;
    }

    /** The code that a host gives failures of this kind; several kinds share one. */
    String code() {
        return code;
    }

    /** Whether a host says of this kind that the same input may succeed later. */
    boolean retryable() {
        return retryable;
    }
}
`
}
