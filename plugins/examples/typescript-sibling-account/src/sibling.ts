import { type Decision, type FailureEvent, type Kind, switchTo } from "@mulligan-run/plugin";

/** What mulligan.yaml may say. */
export interface Config {
  /** Groups of provider entries that are accounts of the same provider. */
  readonly siblings?: readonly (readonly string[])[];
  /** Kinds of failure that are the account's. */
  readonly kinds?: readonly Kind[];
}

/** The kinds that are the account's where nobody says otherwise. */
const usual: readonly Kind[] = ["rate_limit", "quota", "billing"];

/** The JSON Schema of Config. */
export const configSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "typescript-sibling-account",
  type: "object",
  additionalProperties: false,
  properties: {
    siblings: {
      description: "Groups of provider entries that are accounts of one provider. Without it, the names tell: what is before the last -.",
      type: "array",
      items: { type: "array", minItems: 2, items: { type: "string" } },
    },
    kinds: {
      description: "Kinds of failure that another account may not have.",
      type: "array",
      items: { type: "string" },
      default: usual,
    },
  },
};

let config: Config = {};

/** Takes the settings. */
export function configure(given: unknown): void {
  config = (given ?? {}) as Config; // the host has checked it against the schema
}

/** Switches to the same model of another account, if that is an alternative. */
export function siblingAccount(e: FailureEvent): Decision | undefined {
  const { siblings, kinds = usual } = config;
  if (!kinds.includes(e.kind)) return undefined;
  const [entry, model] = cut(e.model);
  const isSibling = (other: string) =>
    siblings ? siblings.some((group) => group.includes(entry) && group.includes(other)) : family(other) === family(entry);
  const same = e.alternatives.find((name) => {
    const [other, itsModel] = cut(name);
    return other !== entry && itsModel === model && isSibling(other);
  });
  return same === undefined ? undefined : switchTo(same, { reason: `${entry}: ${e.kind}. ${cut(same)[0]} has the same model` });
}

/** Cuts provider/model at the first slash: a model's name may have more. */
function cut(name: string): [entry: string, model: string] {
  const at = name.indexOf("/");
  return [name.slice(0, at), name.slice(at + 1)];
}

/** The common name of anthropic-work, anthropic-home and anthropic. */
function family(entry: string): string {
  const at = entry.lastIndexOf("-");
  return at > 0 ? entry.slice(0, at) : entry;
}
