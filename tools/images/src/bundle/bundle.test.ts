import { expect, it } from 'vitest';
import { repoint } from './bundle.ts';

it('keeps the V8 flags of the launcher, and starts the bundle', () => {
  const launcher = "#!/usr/bin/env -S node --max-semi-space-size=4\nawait import('../src/main.ts');\n";
  expect(repoint(launcher)).toBe("#!/usr/bin/env -S node --max-semi-space-size=4\nawait import('./main.mjs');\n");
});

it('refuses a launcher that would still start another file', () => {
  expect(() => repoint("await import('../src/start.ts');")).toThrow("doesn't import '../src/main.ts'");
});
