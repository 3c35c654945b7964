package postgres

// factTables are the tables of what machines share, apart from runs.
const factTables = `
CREATE TABLE mulligan.cooldowns (
	scope    text COLLATE "C" PRIMARY KEY,
	kind     text NOT NULL,
	until    timestamptz NOT NULL,
	failures integer NOT NULL, -- in a row
	version  bigint NOT NULL   -- of this row, from 1
);
CREATE TABLE mulligan.spent (
	day          text COLLATE "C" PRIMARY KEY,
	tokens       bigint NOT NULL,
	microdollars bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE mulligan.members (
	member  text COLLATE "C" PRIMARY KEY, -- the open store
	name    text NOT NULL,                -- of the process, for people
	about   bytea NOT NULL,               -- what it says of itself
	joined  timestamptz NOT NULL DEFAULT clock_timestamp(),
	seen    timestamptz NOT NULL,
	expires timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE mulligan.grants (
	kind    text COLLATE "C" NOT NULL, -- what a secret is good for
	secret  bytea NOT NULL,            -- its digest
	token   bytea NOT NULL,            -- that vouched for it, as a digest
	expires timestamptz NOT NULL,
	PRIMARY KEY (kind, secret)
);
CREATE TABLE mulligan.tokens (
	installation text COLLATE "C" PRIMARY KEY,
	token        bytea NOT NULL, -- as a digest
	expires      timestamptz NOT NULL
);
`

// valueTables are what plugins store: their values, and how much space each plugin uses.
const valueTables = `
CREATE TABLE mulligan.plugins (
	plugin  text COLLATE "C" PRIMARY KEY,
	bytes   bigint NOT NULL DEFAULT 0, -- as values.Size counts
	version bigint NOT NULL DEFAULT 0  -- of the value that was changed last
) WITH (fillfactor = 50);
CREATE TABLE mulligan.plugin_values (
	plugin  text COLLATE "C" NOT NULL,
	key     text COLLATE "C" NOT NULL,
	value   bytea NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (plugin, key)
);
`
