import { parseYaml, type YamlProblem } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { ClusterAuthError } from '../errors.ts';

/** Go reads null, empty and missing values as the zero value; here, that of a text is undefined. */
const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value || undefined),
);
const item = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value ?? ''),
);
const flag = z.pipe(
  z.nullish(z.boolean()),
  z.transform((value) => value ?? false),
);
function list<T extends z.ZodMiniType>(of: T) {
  return z.pipe(
    z.nullish(z.array(of)),
    z.transform((value) => value ?? []),
  );
}
function map<T extends z.ZodMiniType>(of: T) {
  return z.pipe(
    z.nullish(z.record(z.string(), of)),
    z.transform((value) => value ?? {}),
  );
}
function struct<T extends z.ZodMiniType>(of: T) {
  return z.pipe(
    z.nullish(of),
    z.transform((value) => value ?? z.parse(of, {})),
  );
}

/** The `cluster` of an entry of `clusters`. */
export const cluster = z.object({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': flag,
  'proxy-url': text,
  'tls-server-name': text,
  extensions: list(struct(z.object({ name: item, extension: z.optional(z.unknown()) }))),
});

/** The `exec` of a user. */
export const exec = z.object({
  apiVersion: item,
  command: item,
  args: list(item),
  env: list(struct(z.object({ name: item, value: item }))),
  installHint: text,
  interactiveMode: text,
  provideClusterInfo: flag,
});

/** A user of a kubeconfig. */
export const user = z.object({
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  'as-uid': text,
  'as-groups': list(item),
  'as-user-extra': map(list(item)),
  exec: z.nullish(exec),
  'auth-provider': z.nullish(z.object({ name: item, config: map(item) })),
});

const context = z.object({ cluster: text, user: text });

/** What we do with each field is in docs/kubeconfig.md; kubectl ignores unknown ones, too. */
const kubeconfig = z.object({
  apiVersion: z.nullish(z.literal(['', 'v1'])),
  kind: z.nullish(z.literal(['', 'Config'])),
  'current-context': text,
  contexts: list(struct(z.object({ name: item, context: struct(context) }))),
  clusters: list(struct(z.object({ name: item, cluster: struct(cluster) }))),
  users: list(struct(z.object({ name: item, user: struct(user) }))),
});

/** A kubeconfig file, with the fields as in the file. */
export type Kubeconfig = z.infer<typeof kubeconfig>;
export type KubeconfigCluster = z.infer<typeof cluster>;
export type KubeconfigUser = z.infer<typeof user>;
export type KubeconfigExec = z.infer<typeof exec>;

/**
 * Parses a kubeconfig in YAML or JSON.
 *
 * @param path of the file, for the error
 * @throws {ClusterAuthError} with the line or the field, and without its content
 */
export function parseKubeconfig(raw: string, path: string): Kubeconfig {
  const fail = (what: string) => new ClusterAuthError('CLUSTER_KUBECONFIG', `kubeconfig ${path}: ${what}`);
  const document = parseYaml(raw);
  if (!document.ok) throw fail(wordsOf(document.problem));
  // kubectl skips an empty file of a list.
  const result = kubeconfig.safeParse(document.value ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = fieldOf(issue?.path ?? []);
  const wanted =
    issue?.code === 'invalid_type'
      ? WANTED[issue.expected]
      : issue?.code === 'invalid_value'
        ? String(issue.values.at(-1))
        : undefined;
  throw fail(`${field || 'the file'} ${wanted === undefined ? 'is not valid' : `must be ${wanted}`}`);
}

const WANTED: Readonly<Record<string, string>> = {
  string: 'text (quote numbers, and words such as true)',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** Doesn't use the message, which may quote a token. */
function wordsOf({ code, place }: YamlProblem): string {
  if (place !== undefined) return `line ${place.line} is not valid YAML (${code})`;
  return code === 'NESTING' ? 'its YAML is nested too deeply' : "its YAML aliases can't be resolved";
}

/** `users[1].user.token` */
export function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
