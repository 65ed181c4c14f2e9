import { type OptionTable, rowsOf, text } from '@kube-semaphore/options';
import { describe, expect, it } from 'vitest';
import { type Documented, referencePages } from './page.ts';

/** An app with a shared option and metric, and its own option and metric. */
function app(letter: string): Documented {
  const variables = `S${letter.toUpperCase()}`;
  const option = (flag: string) => ({
    flag,
    env: `${variables}_${flag.toUpperCase()}`,
    group: 'Remote',
    type: text('name'),
  });
  const options: OptionTable<{ name: string; own: string | undefined }> = {
    name: { ...option('name'), aliases: [`OLD_${variables}_NAME`], required: true, help: 'Its name.' },
    own: { ...option('own'), help: `Of ${letter}.` },
  };
  return {
    app: letter,
    program: { name: `semaphore-${letter}`, description: `Does ${letter}.` },
    variables,
    series: `semaphore_${letter}`,
    options: rowsOf(options).map(([, spec]) => spec),
    metrics: [
      { name: `semaphore_${letter}_up`, type: 'gauge', help: 'Whether it is up.', labels: {} },
      { name: `semaphore_${letter}_own`, type: 'gauge', help: `Of ${letter}.`, labels: {} },
    ],
  };
}

describe('referencePages', () => {
  it('have a page for each app, with its own options and metrics', () => {
    const { 'x.md': page } = referencePages([app('x'), app('y')]);
    expect(page).toMatch(
      /^# semaphore-x: reference\n\n<!-- Generated .* -->\n\nDoes x\. See also \[common .*\]\(common\.md\)/,
    );
    expect(page).toMatch(/## Options\n\n- `-own <name>`, `SX_OWN`: Of x\.\n\n## Metrics\n/);
    expect(page).toMatch(/## Metrics\n\n- `semaphore_x_own` \(gauge\): Of x\.\n$/);
  });

  it('have shared options and metrics once, with the older variables of each app', () => {
    const { 'common.md': page } = referencePages([app('x'), app('y')]);
    expect(page).toContain('- semaphore-y: `SY_…`, `semaphore_y_…`\n');
    expect(page).toContain(
      '- `-name <name>`, `…_NAME` (required): Its name. Older: `OLD_SX_NAME`, `OLD_SY_NAME`.\n\n## Metrics of all programs\n',
    );
    expect(page).toMatch(/- `…_up` \(gauge\): Whether it is up\.\n$/);
    expect(page).not.toContain('own');
  });

  it('name the apps that share a group', () => {
    const alone: Documented = { ...app('z'), options: [], metrics: [] };
    const { 'common.md': page } = referencePages([app('x'), app('y'), alone]);
    expect(page).toContain('## Options of x and y\n');
    expect(page).toContain('## Metrics of x and y\n');
  });

  it('list the commands of a program', () => {
    const x = app('x');
    const subcommands = [{ name: 'plan', description: 'prints what would change.' }];
    const { 'x.md': page } = referencePages([{ ...x, program: { ...x.program, subcommands } }]);
    expect(page).toContain('\n\n## Commands\n\n- `semaphore-x`: Run until');
    expect(page).toContain('- `semaphore-x plan`: prints what would change.\n\n## Options\n');
  });
});
