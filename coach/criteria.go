package coach

import "github.com/sidecoach/sidecoach/plancriteria"

// criteria fills the plan's fields.
func (f *fields) criteria(c *plancriteria.Criteria) {
	if c == nil {
		return
	}
	f.Heading = quotable(c.Heading, maxQuote)
	if f.Heading == "" {
		f.Heading = "Success Criteria"
	}
	open, ticked := leaves(c.Items)
	f.Open, f.Ticked = len(open), len(ticked)
	shown := open
	if f.Open > 0 {
		f.Criterion = quotable(open[0].Text, maxCriterion)
	} else {
		shown = ticked
	}
	if len(shown) == 0 {
		f.Section = phrase(quotable(c.Text, maxList), maxList)
		return
	}
	// No more can fit, as each takes three characters at least with its quotes.
	quotes := make([]string, 0, min(len(shown), maxList/3))
	for _, it := range shown[:cap(quotes)] {
		quotes = append(quotes, `"`+quotable(it.Text, maxList-2)+`"`)
	}
	f.Criteria, f.More = list(quotes, "; ", maxList)
	f.More += len(shown) - len(quotes)
}

// leaves returns the criteria among items, ticked and not, in order. No criteria are items without words and items
// without a checkbox that have items with checkboxes under them: those are headings.
func leaves(items []plancriteria.Item) (open, ticked []plancriteria.Item) {
	for i, it := range items {
		if Clean(it.Text, 1) == "" || !it.Checkbox && groups(items, i) {
			continue
		}
		if it.Checked {
			ticked = append(ticked, it)
		} else {
			open = append(open, it)
		}
	}
	return open, ticked
}

// groups reports whether an item with a checkbox is nested under items[i].
func groups(items []plancriteria.Item, i int) bool {
	for _, it := range items[i+1:] {
		if it.Depth <= items[i].Depth {
			return false
		}
		if it.Checkbox {
			return true
		}
	}
	return false
}
