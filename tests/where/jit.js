// SPDX-License-Identifier: GPL-2.0
// Keeps arrays, which a function writes to that node compiles.
const kept = [];

function writeInto(bytes) {
	for (let i = 0; i < bytes.length; i += 512)
		bytes[i] = 1;
	return bytes;
}

function serveRequest() {
	kept.push(writeInto(new Uint8Array(1 << 18)));
}

function loop() {
	if (kept.length < 4000)
		for (let i = 0; i < 20; i++)
			serveRequest();
	setTimeout(loop, 20);
}

console.log("ready");
loop();
