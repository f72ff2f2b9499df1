import { runGenesis } from "../../genesis/run-genesis.ts";

/** `npm run genesis` over one folder, and what it said. */
export function genesisIn(folder: string) {
  return async (...args: string[]) => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runGenesis({
      args: [...args, "--out", folder],
      env: {},
      now: () => new Date(),
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
}
