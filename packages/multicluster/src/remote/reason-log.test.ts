import { describe, expect, it } from 'vitest';
import { ReasonLog, reasonKey } from './reason-log.ts';

describe('the reasons of an outage', () => {
  it('are news if they change, and two that alternate only every ten minutes', () => {
    const log = new ReasonLog();
    const told = Array.from({ length: 1_300 }, (_, second) => {
      const reason = second % 2 === 0 ? 'reset' : 'denied 401';
      return log.isNews(reason, second * 1_000) ? [`${second} ${reason}`] : [];
    }).flat();
    expect(told).toEqual(['0 reset', '1 denied 401', '600 reset', '601 denied 401', '1200 reset', '1201 denied 401']);
  });

  it('are news again in the next outage', () => {
    const log = new ReasonLog();
    expect([log.isNews('reset', 0), log.isNews('reset', 1_000_000)]).toEqual([true, false]);
    log.clear();
    expect(log.isNews('reset', 1_000_001)).toBe(true);
  });

  it.each([
    { name: 'by the status', error: { status: 401, code: 'KUBE_API' }, key: 'x 401' },
    {
      name: 'by whether the network failed',
      error: { code: 'KUBE_CONNECTION', cause: { code: 'ECONNRESET' } },
      key: 'x network',
    },
    { name: 'by the code', error: { code: 'KUBE_CONNECTION', message: 'not trusted' }, key: 'x KUBE_CONNECTION' },
  ])('differ $name', ({ error, key }) => {
    expect(reasonKey('x', error)).toBe(key);
  });
});
