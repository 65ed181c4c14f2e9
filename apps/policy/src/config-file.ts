import { bad, good, type Parsed } from '@kube-semaphore/net';
import { parseDuration } from '@kube-semaphore/options';
import { parse } from 'yaml';
import * as z from 'zod/mini';

const text = z.optional(z.string());

/** SPEC.md, section 2. An empty text is as good as none, as in the files of the Go programs. */
const remote = z.strictObject({
  name: z.string(),
  kubeConfigPath: text,
  remoteAPIURL: text,
  remoteCAURL: text,
  remoteSATokenPath: text,
  allowedPodCIDRs: z.optional(z.array(z.string())),
  /** Go's: a text like `1h`, or nanoseconds. */
  podResyncPeriod: z.optional(z.union([z.string(), z.number()])),
});

const file = z.strictObject({
  local: z.optional(z.strictObject({ kubeConfigPath: text })),
  remotes: z.array(remote).check(z.minLength(1)),
});

export type ConfigFile = z.infer<typeof file>;
export type RemoteEntry = ConfigFile['remotes'][number];

/**
 * Reads the file of `-config`, YAML or JSON. Keys that we don't know are errors: a misspelled `allowedPodCIDRs` must
 * not be an open door.
 *
 * @returns each problem with the path to its field
 */
export function parseConfigFile(source: string): { readonly ok: true; readonly value: ConfigFile } | { readonly ok: false; readonly problems: readonly string[] } {
  let document: unknown;
  try {
    document = parse(source);
  } catch (error) {
    return { ok: false, problems: [`it is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]}`] };
  }
  const parsed = file.safeParse(document);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: parsed.error.issues.map(problemOf) };
}

function problemOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('').replace(/^\./, '');
  if (issue.code === 'unrecognized_keys') return `${field === '' ? 'the file' : field} has unknown keys: ${issue.keys.join(', ')}`;
  return `${field === '' ? 'the file' : field}: ${message}`;
}

/** A duration as Go's JSON has it: a text, or a number of nanoseconds. @returns milliseconds */
export function durationOf(value: string | number): Parsed<number> {
  if (typeof value === 'string') return parseDuration(value);
  return Number.isFinite(value) ? good(value / 1e6) : bad(`${value} is not a number of nanoseconds`);
}
