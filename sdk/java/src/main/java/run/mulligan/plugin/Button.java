package run.mulligan.plugin;

/**
 * One action that a person may choose.
 *
 * @param kind for example {@code retry}, {@code switch_model} or {@code edit}; clients draw kinds that they do
 *     not know by their label
 * @param label what it says on it, at most 200 bytes
 * @param effect who acts: {@code runner}, to which the choice is posted back, or {@code client}
 * @param model the model that it is about, provider/model; may be empty
 * @param primary whether it is the one to offer first
 * @param url where it leads, http or https; empty = it is pressed, and one of a kind of the plugin's own comes
 *     back in {@link Event#pressed()}
 */
public record Button(String kind, String label, String effect, String model, boolean primary, String url) {
    /** A button that the runner acts on. */
    public static Button runner(String kind, String label) {
        return new Button(kind, label, "runner", "", false, "");
    }

    /** A button that the client acts on. */
    public static Button client(String kind, String label) {
        return new Button(kind, label, "client", "", false, "");
    }

    /** The same, about a model. */
    public Button withModel(String model) {
        return new Button(kind, label, effect, model, primary, url);
    }

    /** The same, to be offered first. */
    public Button asPrimary() {
        return new Button(kind, label, effect, model, true, url);
    }

    /** The same, leading somewhere. */
    public Button withUrl(String url) {
        return new Button(kind, label, effect, model, primary, url);
    }

    mulligan.v1.Decision.Button toWire() {
        return mulligan.v1.Decision.Button.newBuilder()
                .setKind(kind)
                .setLabel(label)
                .setEffect(effect)
                .setModel(model)
                .setPrimary(primary)
                .setUrl(url)
                .build(); // the id is the runner's to give
    }
}
