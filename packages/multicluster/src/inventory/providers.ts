import { ClusterAuthError, providedContext, writableByAnyone, writersOf } from '@kube-semaphore/cluster-auth';
import { ConfigError } from '@kube-semaphore/runtime';
import * as z from 'zod/mini';
import { parseConfigFile } from '../config/config-file.ts';
import { invalidConfig, readConfigSource } from '../config/config-source.ts';

const provider = z.strictObject({
  name: z.string().check(z.minLength(1)),
  execConfig: z.unknown(),
  profileSourcedCLIArgsPolicy: z._default(z.enum(['Append', 'Ignore']), 'Ignore'),
  profileSourcedEnvVarsPolicy: z._default(z.enum(['AppendIfNotExists', 'Replace', 'Ignore']), 'Ignore'),
});

const providersFile = z.strictObject({ providers: z.array(provider) });

/** A plugin that gives credentials for clusters of an inventory (KEP-5339). `execConfig` is a valid `exec` of a kubeconfig. */
export type Provider = z.infer<typeof provider>;

/** A file of plugins. */
export type Providers = { readonly path: string; readonly content: string; readonly all: readonly Provider[] };

/**
 * Reads a file of plugins, as sigs.k8s.io/cluster-inventory-api has it (pkg/access).
 *
 * @param known what it had when it was read last; returned again if it still has that
 * @throws {ConfigError} with every problem; also if anyone may write it, as it names programs that we run
 */
export async function readProviders(path: string, known?: Providers): Promise<Providers> {
  const { mode, ...source } = readConfigSource(path);
  if (writersOf(mode) === 'anyone') throw new ConfigError(`${path}: ${writableByAnyone(path, mode)}`);
  if (source.content === known?.content) return known;
  const parsed = parseConfigFile(source.content, providersFile, { unknownKeys: 'error' });
  if (!parsed.ok) throw invalidConfig(source, parsed.problems);
  const { providers } = parsed.value;
  const problems = providers.flatMap(({ name, execConfig }, i) => [
    ...problemsOf(execConfig, { name, path }),
    ...(providers.findIndex((other) => other.name === name) < i ? [`providers: name ${name} is used twice`] : []),
  ]);
  if (problems.length > 0) throw invalidConfig(source, problems);
  return { ...source, all: providers };
}

function problemsOf(
  exec: unknown,
  { name, path }: { readonly name: string; readonly path: string },
): readonly string[] {
  const from = { cluster: { name, path }, user: { name, path, what: 'providers file' } };
  try {
    providedContext({ cluster: { server: 'https://example' }, exec, from });
    return [];
  } catch (error) {
    if (error instanceof ClusterAuthError) return [error.message];
    throw error;
  }
}
