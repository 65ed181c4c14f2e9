import { Secrets } from '@kube-semaphore/text';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { statusPage } from './status-page.ts';

it('is JSON that is short, steers no terminal and has no token, whatever the last error says', () => {
  const token = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ';
  const secrets = new Secrets();
  secrets.hold({}, [token]);
  const parts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(token, '\u001b[2J', '\u202e', '"', '\\', '\n', 'x'.repeat(5_000)),
  );
  fc.assert(
    fc.property(fc.array(parts), (texts) => {
      const lastError = { time: '', message: texts.join('') };
      const local = { synced: false, up: false, since: '', lastSync: null, lastError };
      const page = statusPage({ name: 'app', version: '0.1.0', secrets }, { local, remotes: [], config: {} });
      expect(JSON.parse(page)).toMatchObject({ schemaVersion: '1', app: 'app', local: { up: false } });
      expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(page).not.toContain(token.slice(0, 16));
      expect(page.length).toBeLessThan(10_000);
    }),
  );
});
