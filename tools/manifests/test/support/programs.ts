import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type CommonOptions, type Given, type OptionTable, resolveOptions } from '@kube-semaphore/options';
import * as policy from '@kube-semaphore/policy/options';
import * as serviceMirror from '@kube-semaphore/service-mirror/options';
import * as wireguard from '@kube-semaphore/wireguard/options';

/** A program with a workload in deploy/. */
export type DeployedProgram = {
  /** `semaphore-policy`: the name of its workload, image and account, too. */
  readonly name: string;
  /** The folder of its base. */
  readonly base: string;
  readonly kind: 'Deployment' | 'DaemonSet';
  /** The variable that names its config file. */
  readonly configVariable: string;
  /** All its variables. */
  readonly variables: readonly string[];
  /** The options that it runs with. @throws {Error} with its output, if it doesn't run, or warns */
  readonly run: (argv: readonly string[], env: Readonly<Record<string, string>>) => Promise<Readonly<CommonOptions>>;
};

type Table<C> = {
  readonly program: { readonly name: string; readonly description: string };
  readonly options: OptionTable<C>;
  readonly validate: (given: Given<C>, config: Partial<C>, subcommand: string | undefined) => string[];
};

function deployed<C extends CommonOptions>(
  { program, options, validate }: Table<C>,
  facts: Pick<DeployedProgram, 'base' | 'kind' | 'configVariable'>,
): DeployedProgram {
  return {
    name: program.name,
    ...facts,
    variables: Object.values<{ readonly env: string }>(options).map(({ env }) => env),
    async run(argv, env) {
      const resolution = await resolveOptions(options, {
        program: { ...program, version: '0.0.0' },
        argv,
        env,
        validate,
      });
      if (resolution.kind === 'exit') throw new Error(resolution.stderr ?? resolution.stdout);
      if (resolution.warnings.length > 0) throw new Error(resolution.warnings.join('\n'));
      return resolution.config;
    },
  };
}

/** All programs. */
export const programs: readonly DeployedProgram[] = [
  deployed(policy, { base: 'policy/base', kind: 'Deployment', configVariable: 'SP_CONFIG' }),
  deployed(serviceMirror, { base: 'service-mirror/base', kind: 'Deployment', configVariable: 'SSM_CONFIG' }),
  deployed(wireguard, { base: 'wireguard/base', kind: 'DaemonSet', configVariable: 'SWG_CLUSTERS_CONFIG' }),
];

/** What `plan` complains about, outside a Pod. */
export function planErrors(name: string, variables: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const launcher = fileURLToPath(
    new URL(`../../../../apps/${name.slice('semaphore-'.length)}/bin/${name}.js`, import.meta.url),
  );
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  execFile(launcher, ['plan'], { env: { PATH: process.env['PATH'], ...variables } }, (_error, _stdout, stderr) =>
    resolve(stderr.trim().split('\n')),
  );
  return promise;
}
