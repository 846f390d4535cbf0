package plancriteria

// Criteria is the success-criteria section of a plan.
type Criteria struct {
	Heading string // the heading's text as written, without its markup
	Level   int    // of the heading, 1 to 6
	Start   int    // byte offset of the section's content in the plan, after the heading
	End     int    // byte offset of its end
	Text    string // the plan's bytes from Start to End, verbatim
	Items   []Item // its list items in document order, nested ones after their parent
}

// Item is one criterion: a list item of the section.
type Item struct {
	Text     string // without marker and checkbox, inline markup as written, one line
	Checkbox bool   // it has a task-list checkbox
	Checked  bool   // the checkbox is ticked
	Depth    int    // nesting, 0 for the outermost list
	Start    int    // byte offsets in the plan of the item's own line or lines, without those of nested items
	End      int
}

// Open returns the items that are not ticked, in order.
func (c Criteria) Open() []Item {
	var open []Item
	for _, it := range c.Items {
		if !it.Checked {
			open = append(open, it)
		}
	}
	return open
}
