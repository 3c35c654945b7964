package words

import "testing"

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"tool_use_id toolu_01SWBk4567890123 is odd": "tool_use_id toolu_01SWBk4567890123 is odd",
		"sk-1": "sk-1", "use sk-proj-abcdefghijklmnop, please": "use …, please", "Bearer abc": "Bearer abc",
		"url?key=AIzaSyA1234567890123456&x=1": "url?key=…&x=1", "mail me@example.org": "mail me@example.org",
		"http://u:p@h/x and http://h/x@y": "http://…@h/x and http://h/x@y", "meet at 10:30": "meet at 10:30", "a < b > c": "a < b > c",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
