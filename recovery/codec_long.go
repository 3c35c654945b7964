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

// longText is the length, in bytes, from which a text is decoded separately: encoding/json makes
// two copies of a text, and an answer may have 60 MiB.
const longText = 64 << 10

// unmarshalLong does what json.Unmarshal does, for valid JSON and a pointer to an empty value.
func unmarshalLong(data []byte, into any) error {
	if len(data) < longText || !utf8.Valid(data) {
		return json.Unmarshal(data, into)
	}
	t := texts{mark: "long text "}
	short := t.takeFrom(data)
	for bytes.Contains(short, []byte(t.mark)) { // the document happens to contain the mark
		t.mark += "-"
	}
	if len(t.long) == 0 {
		return json.Unmarshal(data, into)
	}
	fresh := reflect.New(reflect.TypeOf(into).Elem())
	if err := json.Unmarshal(t.marked(short), fresh.Interface()); err != nil {
		return err
	}
	if t.putInto(fresh.Elem()); t.put != len(t.long) { // one of the long texts is not in a string field
		return json.Unmarshal(data, into)
	}
	reflect.ValueOf(into).Elem().Set(fresh.Elem())
	return nil
}

// texts are the long texts of a document.
type texts struct {
	mark string
	long [][]byte // still with quotes and escapes
	at   []int    // the offset of each in the shortened document
	put  int      // how many have been put back
}

// takeFrom cuts the long texts out of the document.
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

// marked inserts a mark into the shortened document for each text that was cut out.
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

// putInto replaces the marks in v with the texts.
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

// escapes are the escape sequences of one letter.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote decodes the inside of a JSON string, with one copy.
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

// unit is the value of four hexadecimal digits.
func unit(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 32) // the JSON is valid
	return rune(n)                                    //nolint:gosec // four digits
}
