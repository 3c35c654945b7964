package recovery

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longText is from how many bytes on a text is read by itself. encoding/json makes two copies of
// one, and an answer may have 60 MiB.
const longText = 64 << 10

// unmarshalLong is json.Unmarshal of valid JSON into what into points to, which is empty.
func unmarshalLong(data []byte, into any) error {
	if len(data) < longText || !utf8.Valid(data) {
		return json.Unmarshal(data, into)
	}
	t := texts{mark: "long text "}
	short := t.takeFrom(data)
	for bytes.Contains(short, []byte(t.mark)) { // somebody said that
		t.mark += "-"
	}
	if len(t.long) == 0 {
		return json.Unmarshal(data, into)
	}
	fresh := reflect.New(reflect.TypeOf(into).Elem())
	if err := json.Unmarshal(t.marked(short), fresh.Interface()); err != nil {
		return err
	}
	if t.putInto(fresh.Elem()); t.put != len(t.long) { // one of them is no string
		return json.Unmarshal(data, into)
	}
	reflect.ValueOf(into).Elem().Set(fresh.Elem())
	return nil
}

// texts are the long ones of a document.
type texts struct {
	mark string
	long [][]byte // as they stand between their quotes
	at   []int    // where each was in what is left of the document
	put  int      // how many were put into their places
}

// takeFrom gives the document without its long texts.
func (t *texts) takeFrom(data []byte) []byte {
	var short []byte
	for {
		open := bytes.IndexByte(data, '"')
		if open < 0 {
			return append(short, data...)
		}
		end := open + 1
		for data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		short = append(short, data[:open+1]...)
		if text := data[open+1 : end]; len(text) < longText {
			short = append(short, text...)
		} else {
			t.long, t.at = append(t.long, text), append(t.at, len(short))
		}
		short, data = append(short, '"'), data[end+1:]
	}
}

// marked puts a mark where each of the long texts was.
func (t *texts) marked(short []byte) []byte {
	var doc []byte
	from := 0
	for i, at := range t.at {
		doc = append(doc, short[from:at]...)
		doc = strconv.AppendInt(append(doc, t.mark...), int64(i), 10)
		from = at
	}
	return append(doc, short[from:]...)
}

// putInto puts the texts where their marks are.
func (t *texts) putInto(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		number, marked := strings.CutPrefix(v.String(), t.mark)
		if n, err := strconv.Atoi(number); marked && err == nil && v.CanSet() {
			v.SetString(unquote(t.long[n]))
			t.put++
		}
	case reflect.Struct:
		for i := range v.NumField() {
			t.putInto(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				t.putInto(v.Index(i))
			}
		}
	case reflect.Pointer:
		t.putInto(v.Elem())
	}
}

// escapes are those of one letter.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote is the text that stands between the quotes of valid JSON, of which it makes one copy.
func unquote(quoted []byte) string {
	var text strings.Builder
	text.Grow(len(quoted))
	for {
		plain := bytes.IndexByte(quoted, '\\')
		if plain < 0 {
			text.Write(quoted)
			return text.String()
		}
		text.Write(quoted[:plain])
		quoted = quoted[plain+1:]
		if quoted[0] != 'u' {
			text.WriteByte(escapes[quoted[0]])
			quoted = quoted[1:]
			continue
		}
		r := unit(quoted[1:5])
		quoted = quoted[5:]
		if utf16.IsSurrogate(r) {
			pair := utf8.RuneError
			if len(quoted) >= 6 && quoted[0] == '\\' && quoted[1] == 'u' {
				pair = utf16.DecodeRune(r, unit(quoted[2:6]))
			}
			if r = pair; pair != utf8.RuneError {
				quoted = quoted[6:]
			}
		}
		text.WriteRune(r)
	}
}

// unit is what four hexadecimal digits say.
func unit(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 32) // the JSON is valid
	return rune(n)                                    //nolint:gosec // four digits
}
