import { type CommonOptions, commonRows, optionTable } from '@kube-semaphore/options';
import { runCommand } from '../src/command.ts';

/** A program that prints its second word, and that word as JSON, and knows that its first word is a credential. */
const [secret = '', text = ''] = process.argv.splice(2);
const options = optionTable<CommonOptions>({ prefix: 'P' }, commonRows({ printing: ['print'], local: 'nothing' }));
const program = { name: 'printer', description: 'Prints.' };

await runCommand({ program, version: '0.1.0', options, validate: () => [] }, ({ secrets, print }) => {
  secrets.hold({}, [secret]);
  print(`${text}\n`);
  print({ [text]: text });
  return Promise.resolve(0);
});
