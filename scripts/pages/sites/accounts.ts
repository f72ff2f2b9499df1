/** Accounts of the development chain (the mnemonic of anvil and hardhat), and contracts that pages are shown with. */
export const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
export const bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const others = [
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
] as const;

export const rupiah = "0x2e0E7Eb08df97F1bdD1DF6c3EAbfda8De67A1B05";
export const passes = "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063";
export const crates = "0x53E0bca35eC356BD5ddDFebbD1Fc0fD03FaBad39";
/** Takes payments; its ABI is known. */
export const market = "0x7D1AfA7B718fb893dB30A3aBc0Cfc608AaCfeBB0";
