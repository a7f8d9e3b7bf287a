# SPDX-License-Identifier: GPL-2.0
# A JSON service in Ruby: items are kept in a cache of a fixed number. With LEAK=permille
# that share of what is posted is kept for ever, after onset seconds: Ruby has a heap of
# its own, so the leak is one in Ruby.
require 'json'
require 'socket'
KEEP = 300
leak = ENV.fetch('LEAK', '0').to_i
dice = Random.new(ENV['seed'].to_i)
onset = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ENV.fetch('onset', '0').to_f
cache = {}
kept = []
server = TCPServer.new('127.0.0.1', ENV['port'].to_i)
loop do
  client = server.accept
  begin
    while (line = client.gets)
      verb, path, = line.split(' ')
      length = 0
      while (header = client.gets) && header != "\r\n"
        length = Regexp.last_match(1).to_i if header =~ /\Acontent-length: (\d+)/i
      end
      if verb == 'POST'
        value = JSON.parse(client.read(length))
        cache.delete(value['key'])
        cache[value['key']] = value
        cache.shift if cache.size > KEEP
        words = value['items'].map { |i| i['text'].upcase }.sort
        late = Process.clock_gettime(Process::CLOCK_MONOTONIC) >= onset
        kept << [value, words] if dice.rand(1000) < leak && late
        out = { 'stored' => value['key'], 'first' => words.first(3) }
      else
        out = cache[path.split('/').last] || { 'error' => 'not found' }
      end
      body = JSON.pretty_generate(out)
      client.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    end
  rescue IOError, SystemCallError
    # the client is gone
  ensure
    client.close
  end
end
