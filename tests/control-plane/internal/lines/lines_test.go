package lines

import (
	"bytes"
	"testing"
)

func TestLinesOfTwoWritersStayWhole(t *testing.T) {
	var out bytes.Buffer
	log := NewLog(&out)
	a, b := log.Writer("a"), log.Writer("b")
	for _, write := range []struct {
		writer interface{ Write([]byte) (int, error) }
		text   string
	}{
		{a, "one\ntw"}, {b, "three\n"}, {a, "o\n\nfour\n"}, {b, "unfinished"},
	} {
		if n, err := write.writer.Write([]byte(write.text)); n != len(write.text) || err != nil {
			t.Fatalf("%q: %d, %v", write.text, n, err)
		}
	}
	want := "a: one\nb: three\na: two\na: \na: four\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
