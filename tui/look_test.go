package tui

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/mulligan-run/mulligan/failure"
)

// luminance is WCAG's relative luminance.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// TestContrast: every colour is read well on usual backgrounds of its theme.
func TestContrast(t *testing.T) {
	for dark, backgrounds := range map[bool][]string{true: {"#000000", "#1e1e1e", "#282c34"}, false: {"#ffffff", "#fafafa", "#fdf6e3"}} {
		l := newLook(dark, true)
		for name, style := range map[string]lipgloss.Style{"dim": l.dim, "accent": l.accent, "good": l.good, "warn": l.warn, "bad": l.bad} {
			for _, background := range backgrounds {
				a, b := luminance(style.GetForeground()), luminance(lipgloss.Color(background))
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 5.2 {
					t.Errorf("dark %v: %s on %s has a contrast of %.1f", dark, name, background, ratio)
				}
			}
		}
	}
}

// TestNoColour: without colour, styles are all that is left.
func TestNoColour(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.asked(failure.KindAuth)
		for _, seq := range style.FindAllString(s.chat.View().Content, -1) {
			if strings.Contains(seq, "38;") || strings.Contains(seq, "48;") {
				s.Fatalf("a colour: %q", seq)
			}
		}
	})
}

// BenchmarkStream draws a frame for each of 1,000 pieces of an answer of 20 KB.
func BenchmarkStream(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "word %d and more **text**", i)
		if i%8 == 7 {
			text.WriteString("\n\n")
		} else {
			text.WriteString(" ")
		}
	}
	whole := text.String()
	for b.Loop() {
		p := newPen(80, newLook(true, true))
		one := &piece{kind: pieceAnswer, partial: true}
		for n := 20; n < len(whole); n += 20 {
			one.text = whole[:n]
			p.answer(one)
		}
	}
}
