// Package classifytest unit-tests prompts and the classifiers that send them, without a key and without the network.
package classifytest
