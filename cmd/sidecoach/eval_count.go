package main

import (
	"errors"
	"strconv"
)

// count is a flag that takes a whole number from 1 to 1000.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }
func (c *count) Type() string   { return "N" }

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1000 {
		return errors.New("it is a whole number from 1 to 1000")
	}
	*c = count(n)
	return nil
}
