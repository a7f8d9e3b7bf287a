// SPDX-License-Identifier: GPL-2.0
// A store in Java: lines "put KEY TEXT" and "get KEY". With LEAK=permille that
// share of what is put is kept for ever, after onset seconds: the JVM has a
// heap of its own, so the leak is one in Java.
import java.io.*;
import java.net.*;
import java.util.*;

public class Service {
	static final int KEEP = 3000;

	static long number(String name) {
		String s = System.getenv(name);
		return s == null || s.isEmpty() ? 0 : Long.parseLong(s);
	}

	public static void main(String[] args) throws IOException {
		long leak = number("LEAK"), onset = System.currentTimeMillis() + 1000 * number("onset");
		Random dice = new Random(number("seed"));
		List<String[]> kept = new ArrayList<>();
		Map<String, String[]> cache = new LinkedHashMap<>(16, .75f, true) {
			protected boolean removeEldestEntry(Map.Entry<String, String[]> e) {
				return size() > KEEP;
			}
		};
		ServerSocket server = new ServerSocket((int) number("port"), 10, InetAddress.getLoopbackAddress());
		while (true) {
			try (Socket s = server.accept()) {
				BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()));
				Writer out = new OutputStreamWriter(s.getOutputStream());
				String line;
				while ((line = in.readLine()) != null) {
					String[] words = line.split(" ", 3);
					if (words[0].equals("put")) {
						String[] value = { words[2], words[2].toUpperCase(), line };
						cache.put(words[1], value);
						if (dice.nextInt(1000) < leak && System.currentTimeMillis() >= onset)
							kept.add(value);
						out.write("ok\n");
					} else {
						String[] value = cache.get(words[1]);
						out.write(value == null ? "none\n" : value[0] + "\n");
					}
					out.flush();
				}
			} catch (IOException e) {
				// the client is gone
			}
		}
	}
}
