import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { parseUsage, usageOf } from './usage.ts';

it('reads memory and CPU time, for any name of the program', () => {
  const status = 'Name:\tnode\nVmPeak:\t 1048576 kB\nVmHWM:\t  163840 kB\nVmRSS:\t  102400 kB\n';
  const stat = '42 (a) S (b)) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 11 0 100 0 0';
  expect(parseUsage(status, stat)).toEqual({ peakMb: 160, residentMb: 100, cpuSeconds: 3.14 });
});

it('agrees with Node.js about a process', async () => {
  // Far more CPU time than what is rounded.
  const script = `while (process.cpuUsage().user < 300_000) for (let i = 0; i < 1e6; i++);
process.stdin.on('data', () => console.log(JSON.stringify(process.cpuUsage())))`;
  const child = spawn(process.execPath, ['-e', script]);
  onTestFinished(() => void child.kill());
  const ownSeconds = async (): Promise<number> => {
    child.stdin.write('?');
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];
    const { user, system } = JSON.parse(printed.toString()) as NodeJS.CpuUsage;
    return (user + system) / 1e6;
  };
  const before = await ownSeconds();
  const { peakMb, residentMb, cpuSeconds } = await usageOf(child.pid!);
  const after = await ownSeconds();
  expect(peakMb).toBeGreaterThanOrEqual(residentMb);
  expect(residentMb).toBeGreaterThan(10);
  // Ticks are 10 ms, and both sums are rounded down.
  expect(cpuSeconds).toBeGreaterThan(before - 0.03);
  expect(cpuSeconds).toBeLessThan(after + 0.01);
});
