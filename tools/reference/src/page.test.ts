import { text, type OptionTable } from '@kube-semaphore/options';
import { describe, expect, it } from 'vitest';
import { referencePage } from './page.ts';

type Config = { name: string };

const options: OptionTable<Config> = {
  name: { flag: 'name', env: 'SX_NAME', group: 'Remote', type: text('name'), required: true, help: 'Its name.' },
};
const metrics = { up: { name: 'sx_up', type: 'gauge', help: 'Whether it is up.', labels: {} } } as const;
const program = { name: 'semaphore-x', description: 'Does x.' };

describe('referencePage', () => {
  it('has the options and the metrics', () => {
    const page = referencePage({ app: 'x', program, options, metrics });
    expect(page).toMatch(/^# semaphore-x: reference\n\n<!-- Generated .* apps\/x\/src: change those. -->\n/);
    expect(page).toContain('\n\nDoes x.\n\n## Options\n');
    expect(page).toContain('### Remote\n\n| Flag |');
    expect(page).toContain('| `-name <name>` | `SX_NAME` | required | Its name. |\n\n## Metrics\n');
    expect(page).toMatch(/\| `sx_up` \| gauge \| {2}\| Whether it is up\. \|\n$/);
  });

  it('lists the commands of a program that has some', () => {
    const subcommands = [{ name: 'plan', description: 'prints what would change.' }];
    const page = referencePage({ app: 'x', program: { ...program, subcommands }, options, metrics });
    expect(page).toContain('\n\n## Commands\n\n- `semaphore-x`: Run until');
    expect(page).toContain('- `semaphore-x plan`: prints what would change.\n\n## Options\n');
  });
});
