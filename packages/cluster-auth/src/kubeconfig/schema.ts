import { parseYaml, type YamlProblem } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { ClusterAuthError } from '../errors.ts';

/** Go reads null, empty and missing values as the zero value; here they are undefined. */
const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value || undefined),
);
const flag = z.pipe(
  z.nullish(z.boolean()),
  z.transform((value) => value ?? false),
);
function list<T extends z.ZodMiniType>(item: T) {
  return z.pipe(
    z.nullish(z.array(item)),
    z.transform((value) => value ?? []),
  );
}
const name = z.string();

const cluster = z.object({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': flag,
  'proxy-url': text,
  'tls-server-name': text,
  extensions: list(z.object({ name, extension: z.unknown() })),
});

const exec = z.object({
  apiVersion: z.string(),
  command: z.string(),
  args: list(z.string()),
  env: list(z.object({ name, value: z.string() })),
  installHint: text,
  interactiveMode: text,
  provideClusterInfo: flag,
});

const user = z.object({
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
  'as-groups': list(z.string()),
  'as-user-extra': z.nullish(z.record(z.string(), z.array(z.string()))),
  exec: z.nullish(exec),
  'auth-provider': z.nullish(z.object({ name: z.string(), config: z.nullish(z.record(z.string(), z.string())) })),
});

/** The fields of a kubeconfig that we read; others are ignored, as in kubectl. */
const kubeconfig = z.object({
  'current-context': text,
  contexts: list(z.object({ name, context: z.object({ cluster: text, user: text }) })),
  clusters: list(z.object({ name, cluster })),
  users: list(
    z.object({
      name,
      // An anonymous user may have no value.
      user: z.pipe(
        z.nullish(user),
        z.transform((value) => value ?? z.parse(user, {})),
      ),
    }),
  ),
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
  const result = kubeconfig.safeParse(document.value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = fieldOf(issue?.path ?? []);
  const wanted =
    issue?.code === 'invalid_type' ? ` must be ${WANTED[issue.expected] ?? issue.expected}` : ' is not valid';
  throw fail(`${field || 'the file'}${wanted}`);
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
function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
