// SPDX-License-Identifier: GPL-2.0
// addon.js ADDON [twin]: calls an addon that keeps what it allocates, keep_record().
const addon = require(process.argv[2]);
const keep = process.argv.length > 3 ? addon.turn : addon.keep;

console.log('ready');
setInterval(() => {
	addon.use();
	keep();
}, 2);
