import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const printer = fileURLToPath(new URL('./printer.ts', import.meta.url));
const token = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ';

describe('what a subcommand prints', () => {
  it.each(['a ', 'a\u001b', 'a\u009f"'])('is a text, and valid JSON, without our credentials behind %j', (before) => {
    const output = execFileSync(process.execPath, [printer, token, before + token], { encoding: 'utf8' });
    const [page, ...json] = output.split('\n');
    const want = `${before}[redacted]`;
    expect([page, JSON.parse(json.join('\n'))]).toEqual([want, { [want]: want }]);
  });
});
