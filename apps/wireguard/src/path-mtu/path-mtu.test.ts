import { expect, it } from 'vitest';
import { PathMtu } from './path-mtu.ts';

const { signal } = new AbortController();
const [A, B] = ['127.0.0.1:9', '[::1]:9'];

it('measures a path again when its endpoint is new, and every hour', async () => {
  let nowMs = 0;
  const mtus = new Map<string, number>([
    ['127.0.0.1', 1500],
    ['::1', 1400],
  ]);
  const asked: string[] = [];
  const tools = {
    pathMtu: (ip: string) => {
      asked.push(ip);
      return Promise.resolve(mtus.get(ip));
    },
  };
  const paths = new PathMtu({ tools, monotonicMs: () => nowMs });
  const measured = async (...endpoints: readonly string[]) => {
    asked.length = 0;
    const found = await paths.measure(endpoints, { signal });
    return { found: Object.fromEntries(found), asked: [...new Set(asked)] };
  };
  expect(await measured(A)).toEqual({ found: { [A]: 1500 }, asked: ['127.0.0.1'] });
  mtus.set('127.0.0.1', 1300);
  expect(await measured(A, B)).toEqual({ found: { [A]: 1500, [B]: 1400 }, asked: ['::1'] });
  nowMs = 3_600_000;
  expect(await measured(A)).toEqual({ found: { [A]: 1300 }, asked: ['127.0.0.1'] });
  // Without a route, what was measured last is all that is known.
  nowMs *= 2;
  mtus.clear();
  expect(await measured(A, B)).toEqual({ found: { [A]: 1300 }, asked: ['127.0.0.1', '::1'] });
});
