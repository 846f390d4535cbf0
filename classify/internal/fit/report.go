package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// crossValidate holds out each repository of file in turn.
func crossValidate(all []*example, file string, features int, l2 float64, minimum int, show string) {
	repos := map[string]bool{}
	for _, e := range all {
		if e.file == file && !e.blinded {
			repos[e.Meta.Repo] = true
		}
	}
	names := make([]string, 0, len(repos))
	for r := range repos {
		names = append(names, r)
	}
	slices.Sort(names)
	guess := map[*example][]float64{}
	var held []*example
	for _, repo := range names {
		var in, out []*example
		for _, e := range all {
			if e.file == file && e.Meta.Repo == repo {
				out = append(out, e)
			} else {
				in = append(in, e)
			}
		}
		w := train(in, features, l2, minimum)
		for _, e := range out {
			guess[e] = predict(w, e)
		}
		held = append(held, out...)
	}
	predict := func(e *example) []float64 { return guess[e] }
	report("held out by repository", held, predict, show)
	var english []*example
	for _, e := range held {
		if e.Meta.Lang == "en" {
			english = append(english, e)
		}
	}
	report("of these English", english, predict, "")
}

const (
	rejected = 4
	progress = 5
)

// report prints the figures by the names that package classify/evaluate gives them.
func report(title string, cases []*example, predict func(*example) []float64, show string) {
	var confusion [6][6]int
	var wrong, humans, continued, completions, caught, statuses, right int
	bins := make([]struct{ n, sum, right float64 }, 10)
	cases = slices.DeleteFunc(slices.Clone(cases), func(e *example) bool { return e.blinded })
	for _, e := range cases {
		p := predict(e)
		status := p[rejected] + p[progress]
		best, conf := 0, p[0]
		for c := 1; c < rejected; c++ {
			if p[c] > conf {
				best, conf = c, p[c]
			}
		}
		if status > conf {
			conf, best = status, progress
			if p[rejected] >= p[progress] {
				best = rejected
			}
		}
		confusion[e.class][best]++
		ok := best == e.class || best >= rejected && e.class >= rejected
		b := &bins[min(9, int(conf*10))]
		b.n++
		b.sum += conf
		if ok {
			right++
			b.right++
		}
		goOn := best >= rejected && conf >= 0.80
		switch {
		case e.class < 3:
			humans++
			if goOn {
				wrong++
			}
		case e.class == 3:
			completions++
			if goOn {
				continued++
			}
		default:
			statuses++
			if goOn {
				caught++
			}
		}
		if show == "all" && best != e.class || show != "" && show == classes[e.class] && best != e.class {
			fmt.Printf("%s want %s got %s %.2f  %.300q\n\n", e.Name, classes[e.class], classes[best], conf, tail(e.Input.Text))
		}
	}
	f1 := func(in func(int) bool) (p, r, f float64) {
		tp, fp, fn := 0, 0, 0
		for i := range confusion {
			for j, n := range confusion[i] {
				switch {
				case in(i) && in(j):
					tp += n
				case in(j):
					fp += n
				case in(i):
					fn += n
				}
			}
		}
		p, r = ratio(tp, tp+fp), ratio(tp, tp+fn)
		if p+r > 0 {
			f = 2 * p * r / (p + r)
		}
		return p, r, f
	}
	macro := 0.0
	for c := range 4 {
		_, _, f := f1(func(i int) bool { return i == c })
		macro += f / 5
	}
	_, _, fs := f1(func(i int) bool { return i >= rejected })
	macro += fs / 5
	rp, rr, _ := f1(func(i int) bool { return i == rejected })
	ece := 0.0
	for _, b := range bins {
		ece += math.Abs(b.sum-b.right) / float64(len(cases))
	}
	fmt.Printf("%s: %d cases\n", title, len(cases))
	fmt.Printf("macro_f1 %.3f  accuracy %.3f  wrong_continues %.3f  completions_continued %.3f  caught %.3f  rejected_precision %.3f  rejected_recall %.3f  ece %.3f\n",
		macro, ratio(right, len(cases)), ratio(wrong, humans), ratio(continued, completions), ratio(caught, statuses), rp, rr, ece)
	fmt.Printf("%12s", "")
	for _, c := range classes {
		fmt.Printf("%11s", c)
	}
	fmt.Println()
	for i, row := range confusion {
		fmt.Printf("%12s", classes[i])
		for _, n := range row {
			fmt.Printf("%11d", n)
		}
		fmt.Println()
	}
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func tail(s string) string {
	if len(s) > 260 {
		s = s[:80] + " … " + s[len(s)-180:]
	}
	return strings.ToValidUTF8(s, "?")
}
