import { fileURLToPath } from 'node:url';
import { type Program, spawnProgram } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';

/** semaphore-wireguard as a process. */
export type Agent = Program;

const launcher = fileURLToPath(new URL('../../bin/semaphore-wireguard.js', import.meta.url));

/** Flags without their hyphen; undefined leaves one of the usual flags out. */
export type AgentFlags = Readonly<Record<string, string | number | undefined>>;

/** How an agent is started. */
export type AgentStart = {
  /** A subcommand. */
  readonly word?: string;
  /** Variables; PATH is where it finds `wg`, `ip` and wireguard-go. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs, if not here. */
  readonly place?: Place;
};

/** Starts it with these flags and variables, and without those of the tests. */
export function spawnAgent(flags: AgentFlags, { word, env = {}, place }: AgentStart = {}): Agent {
  const given = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`-${flag}=${value}`]));
  return spawnProgram(launcher, word === undefined ? given : [word, ...given], env, { place });
}
