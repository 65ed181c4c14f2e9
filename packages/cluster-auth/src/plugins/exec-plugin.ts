import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify, stripVTControlCharacters } from 'node:util';
import { printable } from '@kube-semaphore/text';
import type { Credentials } from '../credentials/credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { ClusterAuthError, reasonOf } from '../errors.ts';
import { type Rotating, singleFlight } from '../credentials/rotating.ts';
import { writableByAnyone, writersOf } from '../credentials/writers.ts';
import { type ExecCredential, readExecCredential } from './exec-credential.ts';

/** A program that prints credentials, as a kubeconfig's `exec` describes it. */
export type ExecPlugin = {
  /** A path, or a name to search on the PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  /** How to install the command, shown when it is missing. */
  readonly installHint: string | undefined;
  /** Makes `spec.cluster` of the plugin's input, with `provideClusterInfo`. */
  readonly clusterInfo: (() => Promise<object>) | undefined;
  /** Names the plugin in errors. */
  readonly where: string;
};

/** Long enough for a sign-in over a slow network. No plugin can ask a person. */
const TIMEOUT_MS = 60_000;

const MAX_BYTES = 1024 * 1024;

/** A plugin runs at most this often if its credentials are always expired or refused. */
const RUN_INTERVAL_MS = 1_000;

const STDERR_TAIL = 300;

const run = promisify(execFile);

/**
 * Credentials from an exec plugin, which runs when they are first needed, have expired or were refused. Follows client-go
 * (plugin/pkg/client/auth/exec).
 */
export function execCredentials(plugin: ExecPlugin, deps: Dependencies): Rotating<Credentials> {
  const { clock } = deps;
  let last: ExecCredential | undefined;
  let ranMs = 0;
  const ranRecently = () => clock.monotonicMs() - ranMs < RUN_INTERVAL_MS;
  const renewed = singleFlight(async () => {
    ranMs = clock.monotonicMs();
    last = undefined;
    last = await runPlugin(plugin, deps);
    return last.credentials;
  });
  return {
    async current() {
      if (last !== undefined && (clock.epochMs() < last.expiresMs || ranRecently())) return last.credentials;
      return renewed();
    },
    async renew() {
      if (last !== undefined && !ranRecently()) last = undefined;
    },
  };
}

async function runPlugin(plugin: ExecPlugin, { env, lifetime }: Dependencies): Promise<ExecCredential> {
  const { command, args, apiVersion, where } = plugin;
  await checkWriters(plugin);
  const cluster = await plugin.clusterInfo?.();
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(cluster && { cluster }) } };
  const running = run(command, [...args], {
    env: {
      ...env,
      ...Object.fromEntries(plugin.env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
    signal: lifetime,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_BYTES,
  });
  // A plugin that asks gets the end of its input, not our terminal. It may exit before that.
  running.child.stdin?.on('error', () => {}).end();
  let stdout: string;
  try {
    ({ stdout } = await running);
  } catch (error) {
    lifetime.throwIfAborted();
    // No cause: that error contains the output, with credentials.
    throw new ClusterAuthError('CLUSTER_PLUGIN', `${where} ${failureOf(error as ExecFailure, plugin)}`);
  }
  return readExecCredential(stdout, apiVersion, where);
}

/** Bare names aren't checked: the folders of the PATH belong to the machine. */
async function checkWriters({ command, where }: ExecPlugin): Promise<void> {
  if (!command.includes('/')) return;
  // A missing command fails when it is run, with its own error.
  const mode = (await stat(command).catch(() => undefined))?.mode;
  if (mode === undefined || writersOf(mode) !== 'anyone') return;
  throw new ClusterAuthError('CLUSTER_PLUGIN', `${where}: ${writableByAnyone(command, mode)}`);
}

type ExecFailure = Error & { code?: number | string; killed?: boolean; signal?: string; stderr?: string };

function failureOf(error: ExecFailure, { command, installHint }: ExecPlugin): string {
  const { code, killed, signal, stderr = '' } = error;
  if (code === 'ENOENT')
    return `is not installed: install ${command}${installHint ? ` (${oneLine(installHint)})` : ''}`;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `printed more than ${MAX_BYTES} bytes`;
  if (typeof code === 'string') return `can't be run: ${reasonOf(error)}`;
  if (killed === true) return `printed no credentials within ${TIMEOUT_MS / 1000} s`;
  const ending = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
  return stderr.trim() === '' ? ending : `${ending}: ${oneLine(stderr).slice(-STDERR_TAIL)}`;
}

/** The output of a program as a log may show it. */
function oneLine(text: string): string {
  return printable(
    stripVTControlCharacters(text)
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    Infinity,
  );
}
