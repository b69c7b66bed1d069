import Foundation
import Testing

extension LoopbackInterop {
    /// Tests connections through the proxy servers Squid and Dante.
    @Suite("Proxies", .enabled(if: ProxyServer.areInstalled || Interop.mustRun, "squid or danted is not installed"))
    struct ProxyTests {
        /// Connects `nw cat` to an echo server through a proxy, and returns the output of `nw cat`.
        ///
        /// The test ends the `nw` process after it has received the echo. It does not end the input of `nw`, because
        /// Squid closes both directions when one side ends its own.
        private func talk(
            _ scratch: Scratch, through proxies: [String], to host: String = "127.0.0.1", port: UInt16? = nil,
            succeeds: Bool = false
        ) async throws -> (output: String, errors: String) {
            let echo = try scratch.startNW(["serve", "echo", "--host", "127.0.0.1", "--port", "0"])
            let own = try await echo.announcedPort()
            let options = proxies.flatMap { ["--proxy", $0] }
            let nw = try scratch.startNW(
                ["cat", "-w", "20"] + options + [host, "\(port ?? own)"], input: .held)
            if succeeds {
                try nw.write("hello\n")
                try await eventually("the echo arrives: \(nw.errors)") { !nw.output.isEmpty }
            } else {
                #expect(try await nw.finished() == 1)
            }
            return (String(decoding: nw.output, as: UTF8.self), nw.errors)
        }

        @Test("Squid requires a password, with either authentication scheme", arguments: ["basic", "digest"])
        func squid(_ scheme: String) async throws {
            try await Scratch.run { scratch in
                let port = try await ProxyServer.startSquid(scratch, scheme)
                let known = try await talk(scratch, through: ["http://user:s%40cret@127.0.0.1:\(port)"], succeeds: true)
                #expect(known.output == "hello\n", "\(known)")
                for (word, verb) in [("user:guess@", "refused the user name or the password"), ("", "demands")] {
                    let unknown = try await talk(scratch, through: ["http://\(word)127.0.0.1:\(port)"])
                    #expect(unknown.output.isEmpty)
                    #expect(unknown.errors.contains("the proxy 127.0.0.1:\(port) \(verb)"), "\(unknown)")
                    #expect(!unknown.errors.contains("guess"))
                }
                let forbidden = try await talk(
                    scratch, through: ["http://user:s%40cret@127.0.0.1:\(port)"], port: 9)
                #expect(forbidden.errors.contains("Permission denied"))
            }
        }

        @Test("Dante resolves the name, and reports forbidden and refused targets")
        func dante() async throws {
            try await Scratch.run { scratch in
                let port = try await ProxyServer.startDante(scratch)
                let proxy = "socks5://127.0.0.1:\(port)"
                let byName = try await talk(scratch, through: [proxy], to: "localhost", succeeds: true)
                #expect(byName.output == "hello\n", "\(byName)")
                let forbidden = try await talk(scratch, through: [proxy], port: 9)
                #expect(forbidden.errors.contains("Permission denied"), "\(forbidden)")
                let closed = try await scratch.freePort("127.0.0.1", using: .tcp)
                let refused = try await talk(scratch, through: [proxy], port: closed)
                #expect(refused.errors.contains("Connection refused"), "\(refused)")
            }
        }

        /// Starts a server that echoes datagrams. Returns its port.
        private static func startDatagramEcho(_ scratch: Scratch) async throws -> UInt16 {
            let port = try await scratch.freePort("127.0.0.1", using: .udp)
            _ = try scratch.start(.socat, ["UDP4-LISTEN:\(port),bind=127.0.0.1,fork", "PIPE"])
            try await Sockets.waitForDatagramSocket(port: port)
            return port
        }

        @Test("Dante relays datagrams, by name and by address, and requires a password", arguments: [false, true])
        func relay(isByName: Bool) async throws {
            try await Scratch.run { scratch in
                let port = try await ProxyServer.startDante(scratch)
                let own = try await Self.startDatagramEcho(scratch)
                let host = isByName ? "localhost" : "127.0.0.1"
                let nw = try scratch.startNW(
                    ["cat", "-u", "-v", "-w", "20", "--proxy", "socks5://127.0.0.1:\(port)", host, "\(own)"],
                    input: .held)
                for line in ["hello\n", "again\n"] {
                    let before = nw.output.count
                    try nw.write(line)
                    try await eventually("the echo arrives: \(nw.errors)") {
                        nw.output.count == before + line.utf8.count
                    }
                }
                #expect(String(decoding: nw.output, as: UTF8.self) == "hello\nagain\n")
                // The server's packets must come from the proxy's socket. The client's own socket must not be connected
                // to the server.
                let sockets = try scratch.startProgram("ss", ["-Hunp"])
                _ = try await sockets.finished()
                let lines = String(decoding: sockets.output, as: UTF8.self).split(separator: "\n")
                let number = try nw.program()
                let ours = lines.filter { $0.contains("pid=\(number),") }
                #expect(!ours.isEmpty && !ours.contains { $0.contains(":\(own) ") }, "\(lines)")
            }
        }

        @Test(
            "Dante authenticates the client before it relays", .enabled(if: TwoHosts.isAvailable || Interop.mustRun),
            arguments: ["s%40cret", "guess"])
        func relayCredential(password: String) async throws {
            try await Scratch.run { scratch in
                let port = try await ProxyServer.startDante(scratch, asks: true)
                let own = try await Self.startDatagramEcho(scratch)
                let proxy = "socks5://\(ProxyServer.user):\(password)@127.0.0.1:\(port)"
                let nw = try scratch.startNW(
                    ["cat", "-u", "-w", "20", "--proxy", proxy, "127.0.0.1", "\(own)"], input: .held)
                guard password != "guess" else {
                    #expect(try await nw.finished() == 1)
                    #expect(nw.errors.contains("Permission denied"), "\(nw.errors)")
                    return
                }
                try nw.write("hello\n")
                try await eventually("the echo arrives: \(nw.errors)") { nw.output == Data("hello\n".utf8) }
            }
        }

        @Test("A chain of both proxies")
        func chain() async throws {
            try await Scratch.run { scratch in
                let squid = try await ProxyServer.startSquid(scratch, "digest")
                let dante = try await ProxyServer.startDante(scratch)
                let ways = [
                    ["http://user:s%40cret@127.0.0.1:\(squid)", "socks5://127.0.0.1:\(dante)"],
                    ["socks5://127.0.0.1:\(dante)", "http://user:s%40cret@127.0.0.1:\(squid)"],
                ]
                for way in ways {
                    let answer = try await talk(scratch, through: way, succeeds: true)
                    #expect(answer.output == "hello\n", "\(answer)")
                }
            }
        }

        @Test("A PAC script on a web server selects Squid or Dante, and its errors are reported")
        func script() async throws {
            try await Scratch.run { scratch in
                let squid = try await ProxyServer.startSquid(scratch, "basic")
                let dante = try await ProxyServer.startDante(scratch)
                let folder = try scratch.newDirectory("scripts")
                let bodies = [
                    // The script names two proxies, first Squid and then Dante. Squid requires a user name, which a
                    // script cannot provide. So the connection tries the second proxy.
                    "both.pac": "return 'PROXY 127.0.0.1:\(squid); SOCKS5 127.0.0.1:\(dante)';",
                    "wrong.pac": "\nreturn nowhere();", "endless.pac": "for (;;);",
                ]
                for (name, body) in bodies {
                    let text = "function FindProxyForURL(url, host) { \(body) }"
                    try Data(text.utf8).write(to: folder.appending(path: name))
                }
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                _ = try scratch.startProgram(
                    "python3", ["-m", "http.server", "\(port)", "--bind", "127.0.0.1", "-d", folder.path])
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let place = "pac+http://127.0.0.1:\(port)"
                let answer = try await talk(scratch, through: ["\(place)/both.pac"], to: "localhost", succeeds: true)
                #expect(answer.output == "hello\n", "\(answer)")
                let wrong = try await talk(scratch, through: ["\(place)/wrong.pac"])
                #expect(wrong.errors.contains("nowhere") && wrong.errors.contains("line 2"), "\(wrong)")
                let endless = try await talk(scratch, through: ["\(place)/endless.pac"])
                // The script ends when its deadline passes or when it exceeds its CPU time. Either of these can come
                // first.
                #expect(
                    endless.errors.contains("timed out") || endless.errors.contains("CPU time"), "\(endless)")
                let missing = try await talk(scratch, through: ["\(place)/missing.pac"])
                #expect(missing.errors.contains("404"), "\(missing)")

                let file = folder.appending(path: "both.pac").path
                let nw = try scratch.startNW(["proxy", "https://www.example/secret", "--pac", file])
                #expect(try await nw.finished() == 0)
                let told = String(decoding: nw.output, as: UTF8.self)
                #expect(told.contains("http://127.0.0.1:\(squid)\nthen socks5h://127.0.0.1:\(dante)\n"), "\(told)")
                #expect(told.contains("https://www.example/\"") && !told.contains("secret"), "\(told)")
                let refused = try scratch.startNW(["proxy", "https://www.example/", "--pac", "ftp://h/x.pac"])
                #expect(try await refused.finished() == 1)
                #expect(refused.errors.contains("ftp URLs are not supported"))
            }
        }

        @Test("nw proxy prints the settings of the environment, without the password")
        func environment() async throws {
            try await Scratch.run { scratch in
                let settings = ["https_proxy=http://u:hunter2@p.example:3128", "NO_PROXY=.corp.example,10.0.0.0/8"]
                for (url, expected) in [
                    ("https://www.example/", "http://p.example:3128 with credentials: from https_proxy\n"),
                    ("https://a.corp.example/", "direct: '.corp.example' is excluded from https_proxy\n"),
                    ("https://10.1.2.3/", "direct: '10.0.0.0/8' is excluded from https_proxy\n"),
                    ("https://localhost/", "direct: 'localhost' is excluded from https_proxy\n"),
                    ("ftp://www.example/", "direct: no variable sets a proxy for ftp URLs\n"),
                ] {
                    let nw = try scratch.startProgram("env", ["-i"] + settings + [try Built.nw(), "proxy", url])
                    #expect(try await nw.finished() == 0)
                    #expect(String(decoding: nw.output, as: UTF8.self) == expected)
                }
                let wrong = try scratch.startProgram(
                    "env", ["-i", "ALL_PROXY=socks4://u:hunter2@h", try Built.nw(), "proxy", "https://a.example"])
                #expect(try await wrong.finished() == 1)
                #expect(!wrong.errors.contains("hunter2") && wrong.errors.hasPrefix("nw: proxy: "))
                // The first variable names a PAC script that is not on a web server. The second one names a PAC script,
                // although it must name a proxy. Connections must fail, and must not bypass the script.
                for script in ["auto_proxy=file:///hunter2/x.pac", "ALL_PROXY=http://u:hunter2@h/proxy.pac"] {
                    let told = try scratch.startProgram(
                        "env", ["-i", script, try Built.nw(), "proxy", "https://a.example"])
                    #expect(try await told.finished() == 1)
                    #expect(told.errors.contains("auto_proxy") && !told.errors.contains("hunter2"), "\(told.errors)")
                    let direct = try scratch.startProgram(
                        "env", ["-i", script, try Built.nw(), "cat", "-v", "--proxy", "env", "127.0.0.1", "9"])
                    #expect(try await direct.finished() != 0)
                    #expect(direct.errors.contains("proxy variable of the environment is invalid"), "\(direct.errors)")
                }
            }
        }
    }
}

/// Proxy servers from Debian packages, with configurations for the tests.
enum ProxyServer {
    static let squid = path("squid")
    private static let dante = path("danted")

    static var areInstalled: Bool { squid != nil && dante != nil }

    private static func path(_ name: String) -> String? {
        ["/usr/sbin/\(name)", "/usr/local/sbin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Starts Squid. The user is `user` with the password `s@cret`; port 9 is forbidden.
    static func startSquid(_ scratch: Scratch, _ scheme: String) async throws -> UInt16 {
        let program = try #require(squid, "squid is not installed")
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let passwords = try scratch.newFile("passwords")
        let helper: String
        if scheme == "basic" {
            let hash = try scratch.startOpenSSL(["passwd", "-apr1", "s@cret"])
            _ = try await hash.finished()
            try Data("user:".utf8 + hash.output).write(to: passwords)
            helper = "/usr/lib/squid/basic_ncsa_auth"
        } else {
            try Data("user:s@cret\n".utf8).write(to: passwords)
            helper = "/usr/lib/squid/digest_file_auth"
        }
        let configuration = try scratch.newFile("conf")
        let text = """
            http_port 127.0.0.1:\(port)
            auth_param \(scheme) program \(helper) \(passwords.path)
            auth_param \(scheme) realm test
            auth_param \(scheme) children 1
            acl known proxy_auth REQUIRED
            acl discard port 9
            http_access deny discard
            http_access allow known
            http_access deny all
            pid_filename none
            access_log none
            cache_log stdio:/dev/null
            cache_store_log none
            cache deny all
            shutdown_lifetime 0 seconds

            """
        try Data(text.utf8).write(to: configuration)
        _ = try scratch.startProgram(program, ["-N", "-f", configuration.path])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }

    /// The name of the user that Dante accepts, if it demands authentication. The password is `s@cret`.
    static let user = "relayed"

    /// - Parameter asks: Whether the proxy requires that clients authenticate.
    static func startDante(_ scratch: Scratch, asks: Bool = false) async throws -> UInt16 {
        let program = try #require(dante, "danted is not installed")
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let configuration = try scratch.newFile("conf")
        let text = """
            logoutput: stderr
            internal: 127.0.0.1 port = \(port)
            external: lo
            clientmethod: none
            socksmethod: \(asks ? "username" : "none")
            client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
            socks block { from: 0.0.0.0/0 to: 0.0.0.0/0 port = 9 }
            socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }

            """
        try Data(text.utf8).write(to: configuration)
        if asks {
            // Dante accepts only users of the system. So the test runs it with copies of the user and password files,
            // which contain one additional user.
            let accounts = try await makeAccounts(scratch)
            let words = [
                "mount --bind \(accounts.users) /etc/passwd", "mount --bind \(accounts.passwords) /etc/shadow",
            ]
            let script = (words + ["exec \(program) -f \(configuration.path)"]).joined(separator: " && ")
            _ = try scratch.startProgram("unshare", ["-m", "sh", "-c", script])
        } else {
            _ = try scratch.startProgram(program, ["-f", configuration.path])
        }
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }

    private static func makeAccounts(_ scratch: Scratch) async throws -> (users: String, passwords: String) {
        let hash = try scratch.startOpenSSL(["passwd", "-6", "s@cret"])
        _ = try await hash.finished()
        let word = String(decoding: hash.output, as: UTF8.self).split(separator: "\n").first ?? ""
        let (users, passwords) = (try scratch.newFile("passwd"), try scratch.newFile("shadow"))
        let known = try String(contentsOfFile: "/etc/passwd", encoding: .utf8)
        try Data((known + "\(user):x:64999:64999::/:/bin/false\n").utf8).write(to: users)
        let secrets = try String(contentsOfFile: "/etc/shadow", encoding: .utf8)
        try Data((secrets + "\(user):\(word):19000:0:99999:7:::\n").utf8).write(to: passwords)
        return (users.path, passwords.path)
    }
}
