// Package scarce takes away from a test what a machine may run out of.
package scarce
