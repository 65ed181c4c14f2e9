import type { Place } from '@kube-semaphore/testnet';
import type { Component } from './protocol.ts';

/** A program that runs on a node, started by a supervisor out here. */
export type NodeComponent = {
  /** The folder of its files, its log among them. */
  readonly dir: string;
  /** Ends it and removes its files. Idempotent; it ends with its node, too, and with this process. */
  stop(): Promise<void>;
};

type Program = Component & { readonly env?: Readonly<Record<string, string>> };

/** The same program in a place. A supervisor gives no variables to what it starts; these it shall have. */
export function inPlace(place: Place, { name, file, args, log, env = {} }: Program): Component {
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
  // env becomes the program, as nsenter becomes env: the supervisor kills the program itself.
  const [command, commandArgs] = place.commandLine('env', [...variables, file, ...args], '/');
  return { name, file: command, args: commandArgs, log };
}
