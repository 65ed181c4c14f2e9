/** Starts wireguard-go (name, log file and program are the arguments), says its pid or the error's code, and ends. */
import { startUserspaceDevice, WireGuardToolsError } from '../../src/index.ts';

const [, , name = '', logFile = '', program = ''] = process.argv;
const { signal } = new AbortController();
try {
  const { pid } = await startUserspaceDevice({ name, logFile, program, signal });
  console.log(pid);
} catch (error) {
  if (!(error instanceof WireGuardToolsError)) throw error;
  console.log(`${error.code} ${error.message}`);
}
