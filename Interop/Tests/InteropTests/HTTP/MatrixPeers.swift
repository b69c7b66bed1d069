import Foundation
import Testing

/// The servers and proxies of `HTTPMatrixTests`. The user of the servers is `ann` with the password `secret`.
enum MatrixPeers {
    struct Nginx {
        /// The ports of two servers without TLS. Different ports are different origins.
        var first: UInt16
        var second: UInt16
        var secure: UInt16
    }

    private static let echo =
        #"return 200 "method=$request_method uri=$request_uri auth=$http_authorization field=$http_x_field cookie=$http_cookie";"#

    /// Starts nginx. It answers `/final` with the values of the request.
    static func startNginx(_ scratch: Scratch) async throws -> Nginx {
        let first = try await scratch.freePort("127.0.0.1", using: .tcp)
        let second = try await scratch.freePort("127.0.0.1", using: .tcp)
        let users = try scratch.newFile("users")
        try Data("ann:{PLAIN}secret\n".utf8).write(to: users)
        let page = try scratch.newDirectory("basic")
        try Data("page".utf8).write(to: page.appendingPathComponent("basic"))
        let redirects = [301, 302, 303, 307, 308].map { "location /r\($0) { return \($0) /final; }" }
        let plain = """
            server {
                listen 127.0.0.1:\(first);
                location / { \(echo) }
                location /loop { return 302 /loop; }
                location /cross { return 302 http://127.0.0.1:\(second)/final; }
                location = /a/relative { return 302 "final?x"; }
                location /cookie { add_header Set-Cookie "n=v; Path=/" always; return 302 /final; }
                location = /basic { auth_basic "r"; auth_basic_user_file \(users.path); root \(page.path); }
                \(redirects.joined(separator: "\n    "))
            }
            server {
                listen 127.0.0.1:\(second);
                location / { \(echo) }
            }
            """
        let secure = try await NginxPeer.start(
            try await TLSFiles.shared, http: ["keepalive_timeout 3600;", plain], server: ["location / { \(echo) }"],
            in: scratch)
        return Nginx(first: first, second: second, secure: secure)
    }

    /// Starts Apache with Basic and Digest authentication. Every response has the method of its request in the field `X-Echo`.
    static func startApache(_ scratch: Scratch) async throws -> UInt16 {
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let root = try scratch.newDirectory("apache")
        for folder in ["basic", "digest"] {
            let path = root.appendingPathComponent(folder)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            try Data("page".utf8).write(to: path.appendingPathComponent("index.html"))
        }
        try Data("final".utf8).write(to: root.appendingPathComponent("final"))
        let hash = try scratch.startOpenSSL(["passwd", "-apr1", "secret"])
        _ = try await hash.finished()
        let (basic, digest) = (try scratch.newFile("basic"), try scratch.newFile("digest"))
        try Data("ann:".utf8 + hash.output).write(to: basic)
        // The last part of this line is the MD5 digest of `ann:r:secret`.
        try Data("ann:r:c0376b98fbfd46ea74f457f803f64625\n".utf8).write(to: digest)
        let modules = [
            "mpm_event", "authz_core", "authz_user", "authn_core", "authn_file", "auth_basic", "auth_digest", "alias",
            "dir",
            "headers",
        ]
        let own = scratch.directory.path
        let redirects = [301, 302, 303, 307, 308].map { "RedirectMatch \($0) ^/r\($0)$ /final" }
        let configuration = """
            ServerRoot \(own)
            ServerName server.test
            PidFile \(own)/matrix.pid
            DefaultRuntimeDir \(own)
            ErrorLog \(own)/matrix.log
            User www-data
            Group www-data
            \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
            Listen 127.0.0.1:\(port)
            KeepAliveTimeout 3600
            DocumentRoot \(root.path)
            DirectoryIndex index.html
            Header always set X-Echo "expr=method=%{REQUEST_METHOD}"
            \(redirects.joined(separator: "\n"))
            RedirectMatch 302 ^/loop$ /loop
            <Location /basic/>
                AuthType Basic
                AuthName r
                AuthUserFile \(basic.path)
                Require valid-user
            </Location>
            <Location /digest/>
                AuthType Digest
                AuthName r
                AuthDigestDomain /digest/
                AuthUserFile \(digest.path)
                Require valid-user
            </Location>

            """
        let file = scratch.directory.appendingPathComponent("matrix.conf")
        try Data(configuration.utf8).write(to: file)
        _ = try scratch.startProgram("/usr/sbin/apache2", ["-f", file.path, "-X"])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }

    /// Starts tinyproxy, which closes the connection after it refused a credential. The user is `user` with the password `secret`.
    ///
    /// - Returns: The port, or `nil` if neither `$TINYPROXY` nor the system has the program.
    static func startTinyproxy(_ scratch: Scratch) async throws -> UInt16? {
        let places = [ProcessInfo.processInfo.environment["TINYPROXY"], "/usr/bin/tinyproxy", "/usr/sbin/tinyproxy"]
        let found = places.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else {
            print("matrix\tproxy\ttinyproxy\tnot installed (TINYPROXY names it)\tmissing")
            return nil
        }
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let file = try scratch.newFile("tinyproxy")
        let configuration = """
            Port \(port)
            Listen 127.0.0.1
            Timeout 600
            MaxClients 100
            Allow 127.0.0.1
            BasicAuth user secret

            """
        try Data(configuration.utf8).write(to: file)
        _ = try scratch.startProgram(found, ["-d", "-c", file.path])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }
}
