import { expect, it } from 'vitest';
import { parseUsage, usageOf } from './usage.ts';

it('reads memory and CPU time, whatever the program is called', () => {
  const status = 'Name:\tnode\nVmPeak:\t 1048576 kB\nVmHWM:\t  163840 kB\nVmRSS:\t  102400 kB\n';
  const stat = '42 (a) S (b)) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 11 0 100 0 0';
  expect(parseUsage(status, stat)).toEqual({ peakMb: 160, residentMb: 100, cpuSeconds: 3.14 });
});

it('agrees with what Node.js says of this process', async () => {
  const { peakMb, residentMb, cpuSeconds } = await usageOf(process.pid);
  const { user, system } = process.cpuUsage();
  expect(peakMb).toBeGreaterThanOrEqual(residentMb);
  expect(residentMb).toBeGreaterThan(10);
  // Ticks are 10 ms, each of the two sums is rounded down, and time goes by between the two readings.
  expect(Math.abs(cpuSeconds - (user + system) / 1e6)).toBeLessThan(0.2);
});
