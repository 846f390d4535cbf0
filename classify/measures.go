package classify

import "strings"

// countMeasures returns how many measured values s has: numbers with a unit of time, size or share right behind them, or with
// thousands parted by a comma: "42 %", "96ms", "4.2 s", "560 KB", "16,410".
func countMeasures(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			i++
			continue
		}
		end := i
		parted := false
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || (s[end] == ',' || s[end] == '.') && end+1 < len(s) && s[end+1] >= '0' && s[end+1] <= '9') {
			parted = parted || s[end] == ',' && end+3 < len(s)
			end++
		}
		word := i > 0 && isNameByte(s[i-1])
		if !word && (parted || unit(s[end:])) {
			n++
		}
		i = end
	}
	return n
}

// unit reports whether s begins with a unit, after a blank or not.
func unit(s string) bool {
	s = strings.TrimPrefix(s, " ")
	if strings.HasPrefix(s, "%") {
		return true
	}
	end := 0
	for end < len(s) && end < 4 && (s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z') {
		end++
	}
	if end < len(s) && isNameByte(s[end]) {
		return false
	}
	switch s[:end] {
	case "ms", "s", "sec", "min", "h", "ns", "kB", "KB", "MB", "GB", "kb", "mb", "KiB", "MiB", "GiB", "px", "fps", "rps", "qps", "x":
		return true
	}
	return false
}
