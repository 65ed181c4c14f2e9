import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { builtBinary } from '@kube-semaphore/testkit';

const run = promisify(execFile);

/** One end of a flow as cyclonus reads it: a Pod that it knows by labels, or an address. */
export type FlowEnd = {
  readonly IP: string;
  readonly Internal?: {
    readonly Namespace: string;
    readonly NamespaceLabels: Readonly<Record<string, string>>;
    readonly PodLabels: Readonly<Record<string, string>>;
  };
};

/** A flow as cyclonus reads it. */
export type Flow = {
  readonly Source: FlowEnd;
  readonly Destination: FlowEnd;
  readonly ResolvedPort: number;
  /** Empty: the destination has no name for the port. */
  readonly ResolvedPortName: string;
  readonly Protocol: string;
};

/**
 * Asks cyclonus, which has an implementation of NetworkPolicies of its own, what policies allow.
 *
 * Two things it gets wrong: `NotIn` must match an object without the key, and `matchLabels` with an empty value must not.
 *
 * @returns for each flow, in order, whether it is allowed
 * @throws {Error} if it isn't built
 */
export async function verdicts(policies: readonly KubeObject[], flows: readonly Flow[]): Promise<readonly boolean[]> {
  const program = builtBinary('cyclonus');
  const dir = await mkdtemp(join(tmpdir(), 'cyclonus-'));
  try {
    const [folder, traffic] = [join(dir, 'policies'), join(dir, 'traffic.json')];
    await mkdir(folder);
    for (const [i, policy] of policies.entries()) await writeFile(join(folder, `${i}.yaml`), JSON.stringify(policy));
    await writeFile(traffic, JSON.stringify(flows));
    const args = ['--mode=query-traffic', `--policy-path=${folder}`, `--traffic-path=${traffic}`];
    const { stdout } = await run(program, ['analyze', '--simplify-policies=false', ...args], {
      maxBuffer: 2 ** 30,
    });
    const answers = Array.from(stdout.matchAll(/IS ALLOWED\? +\| +(TRUE|FALSE)/g), ([, answer]) => answer === 'TRUE');
    if (answers.length !== flows.length)
      throw new Error(`${answers.length} answers to ${flows.length} flows:\n${stdout}`);
    return answers;
  } finally {
    await rm(dir, { recursive: true });
  }
}
