package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/faultlab"
)

// give pastes ("paste" at the box) or drops ("drop" on the conversation) a picture of that size.
func (w *window) give(event, kind string, width, height int) {
	w.t.Helper()
	eval[any](w, fmt.Sprintf(`(async () => {
		const canvas = new OffscreenCanvas(%d, %d);
		const to = canvas.getContext('2d');
		to.fillStyle = '#2f62d9';
		to.fillRect(0, 0, canvas.width / 2, canvas.height);
		const data = new DataTransfer();
		data.items.add(new File([await canvas.convertToBlob({ type: %q })], 'shot', { type: %q }));
		const [at, what] = %q === 'paste' ? ['#message', new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })] : ['.scroll', new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })];
		document.querySelector(at).dispatchEvent(what);
	})(); void 0`, width, height, kind, kind, event))
}

func (w *window) attached(n int) {
	w.t.Helper()
	w.wait(fmt.Sprintf(`document.querySelectorAll('.attached img').length === %d`, n))
}

// TestPicturesAreSent: they can be pasted and dropped, and large ones are scaled down. They are
// shown in the conversation, and are kept when a message is repeated or edited.
func TestPicturesAreSent(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.Answer("Blue."), faultlab.Answer("Still blue."), faultlab.Answer("Very blue."))
	w := h.open("/", desktop)
	w.give("paste", "image/png", 40, 30)
	w.attached(1)
	w.give("drop", "image/png", 4000, 1000)
	w.attached(2)
	eval[any](w, `document.querySelector('.new').click()`)
	w.attached(2) // a new conversation inherits the draft of the previous one
	w.send("Which colour is it?")
	w.says(".prose", "Blue.")
	w.attached(0)
	w.wait(`document.querySelectorAll('.pictures img').length === 2 && [...document.querySelectorAll('.pictures img')].map((i) => i.naturalWidth + 'x' + i.naturalHeight).join() === '40x30,1568x392'`)
	picture := regexp.MustCompile(`"media_type": *"image/(png|jpeg)"`)
	sent := func() string {
		all := h.lab.Requests()
		body := string(all[len(all)-1].Body)
		var kinds []string
		for _, m := range picture.FindAllStringSubmatch(body, -1) {
			kinds = append(kinds, m[1])
		}
		return strings.Join(kinds, ",")
	}
	if got := sent(); got != "png,jpeg" {
		t.Errorf("sent were pictures of %q", got)
	}
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.press("Regenerate")
	w.says(".prose", "Still blue.")
	if got := sent(); got != "png,jpeg,png,jpeg" {
		t.Errorf("sent once more were %q", got)
	}
	w.wait(`document.querySelector('.run:last-child').dataset.status === 'completed'`)
	eval[any](w, `document.querySelector('.edit').click()`)
	w.attached(2)
	w.press("Cancel")
	w.attached(0)
	eval[any](w, `document.querySelector('.edit').click()`)
	w.attached(2)
	eval[any](w, `document.querySelector('.attached button').click()`)
	w.attached(1)
	w.send(" Exactly!")
	w.says(".prose", "Very blue.")
	if got := sent(); got != "jpeg" {
		t.Errorf("sent after the edit were %q", got)
	}
}

// TestPicturesThatAreNotSent: a file that is not a picture is refused, and so are too many
// pictures. A model that does not accept pictures is named, and while an answer is written pictures
// stay in the draft.
func TestPicturesThatAreNotSent(t *testing.T) {
	h := build(t)
	h.play(opus, faultlab.StallAfter("Monday is"))
	w := h.open("/", desktop)
	eval[any](w, `(() => { const data = new DataTransfer(); data.items.add(new File(['no picture'], 'notes.txt', { type: 'image/png' }));
		document.querySelector('#message').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); })()`)
	w.says(".trouble", "notes.txt is not a picture that this browser can read")
	for i := range 9 {
		w.give("paste", "image/png", 8, 8)
		w.attached(min(i+1, 8))
	}
	w.says(".trouble", "8 pictures at the most")
	eval[any](w, `(() => { const s = document.querySelector('select[aria-label=Model]'); s.value = `+quote(gptFull)+`; s.dispatchEvent(new Event('change')); })()`)
	w.says(".editing", "gpt-5.2 takes no pictures")
	eval[any](w, `(() => { const s = document.querySelector('select[aria-label=Model]'); s.value = `+quote(opusFull)+`; s.dispatchEvent(new Event('change')); })()`)
	for range 8 {
		eval[any](w, `document.querySelector('.attached button').click()`)
	}
	w.attached(0)
	w.send("Plan my week")
	w.says(".prose", "Monday is")
	w.give("paste", "image/png", 8, 8)
	w.attached(1)
	w.says(".editing", "once this answer is there")
	w.do(chromedp.SendKeys("#message", "Look!"))
	w.key("Enter", 0)
	time.Sleep(200 * time.Millisecond)
	w.attached(1)
	w.press("Stop")
	w.wait(`!document.querySelector('.send').disabled`)
}

// TestPicturesInEveryLook: in the draft, and in a conversation.
func TestPicturesInEveryLook(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.play(opus, faultlab.Answer("Half of it is blue."))
	w := h.open("/", desktop)
	w.give("paste", "image/png", 640, 400)
	w.attached(1)
	w.send("Which colour is it?")
	w.says(".prose", "blue")
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.give("paste", "image/png", 400, 640)
	w.attached(1)
	w.looks(source, "pictures")
}
