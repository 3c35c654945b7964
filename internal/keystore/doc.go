// Package keystore keeps the API keys that people pasted: in the keyring of the system where a person
// is logged in to one, else in the file "keys.json" of a state folder, which its owner alone can read.
// The file names those that are in the keyring, and so tells every process of a change. Keys go by the name of the environment variable that they stand
// in for; which of the two counts is the caller's to say.
//
//	keys := keystore.Open(dir, keystore.KeyringFor(dir, runtime.GOOS, os.Getenv))
//	err := keys.Set("ANTHROPIC_API_KEY", pasted)
//	…
//	key := keys.Get("ANTHROPIC_API_KEY") // what it is now, whoever kept it
//
// The file is looked at again each time, so a key that one process keeps is used by all others of
// the state folder from their next call on. It is replaced whole, by one process at a time.
//
// A file that is a symbolic link, that others can read or that was damaged is not used, and not
// written over: Check says what is wrong with it. No error of this package quotes a key.
package keystore
