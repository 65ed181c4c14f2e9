import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from './program.ts';

/** The resources of a process, from the kernel. MB are 2^20 bytes, as in ps and top. */
export type Usage = {
  /** Peak of the resident memory. */
  readonly peakMb: number;
  /** Resident memory now. */
  readonly residentMb: number;
  /** Of all threads and finished child processes, in user and kernel mode. */
  readonly cpuSeconds: number;
};

/** USER_HZ, which is 100 on all architectures that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/** @throws {Error} if the process is gone */
export async function usageOf(pid: number): Promise<Usage> {
  const [status, stat] = await Promise.all(['status', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')));
  return parseUsage(status ?? '', stat ?? '');
}

/** Reads the texts of /proc/PID/status and /proc/PID/stat, see proc(5). */
export function parseUsage(status: string, stat: string): Usage {
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  // The second field, the program's name in parentheses, may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime and cstime.
  const ticks = fields.slice(14 - 3, 18 - 3).reduce((sum, field) => sum + Number(field), 0);
  return { peakMb: megabytes('VmHWM'), residentMb: megabytes('VmRSS'), cpuSeconds: ticks / TICKS_PER_SECOND };
}

/** Lets a program rest, then looks at it. */
export async function usageAfter(seconds: number, { pid, signal }: Program): Promise<Usage> {
  await delay(seconds * 1000, undefined, { signal });
  return usageOf(pid);
}

/** The number of open sockets, of any kind. @throws {Error} if the process is gone */
export async function socketsOf(pid: number): Promise<number> {
  const folder = `/proc/${pid}/fd`;
  // One of them may be closed meanwhile.
  const targetOf = (fd: string) => readlink(`${folder}/${fd}`).catch(() => '');
  const targets = await Promise.all((await readdir(folder)).map(targetOf));
  return targets.filter((target) => target.startsWith('socket:')).length;
}
