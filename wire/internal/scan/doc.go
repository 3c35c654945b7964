// Package scan takes JSON apart by its places, without reading what is in them.
//
// [Object] looks at all of a body once: that it is JSON, how deep and how much. After that
// [Members] and [Elements] go through objects and lists, and nothing is copied.
package scan
