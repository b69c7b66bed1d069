import Causeway
import Foundation
import Testing

/// nginx as a server of TLS and HTTP.
enum NginxPeer {
    static let path = ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Starts nginx as a TLS server in the foreground, and returns its port. All of its files are in the test's
    /// directory.
    ///
    /// The server's timeouts are long. On a busy machine, a test can be silent for more than nginx's usual minute.
    /// nginx would then reset the stream with `PROTOCOL_ERROR`.
    ///
    /// - Parameters:
    ///   - key: The name of the certificate.
    ///   - listen: Further words for the nginx directive `listen`.
    ///   - http: Directives inside the block `http`.
    ///   - server: Directives inside the block `server`.
    static func start(
        _ files: TLSFiles, as key: String = "ec", listen: String = "", http: [String] = [], server: [String],
        in scratch: Scratch
    ) async throws -> UInt16 {
        let port = try await scratch.freePort("127.0.0.1", using: .tcp)
        let folder = scratch.directory.path
        let configuration = """
            daemon off;
            master_process off;
            user root;
            pid \(folder)/nginx.pid;
            error_log stderr warn;
            events { worker_connections 128; }
            http {
                access_log off;
                send_timeout 1h; client_header_timeout 1h; client_body_timeout 1h;
                client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
                \(http.joined(separator: "\n    "))
                server {
                    listen 127.0.0.1:\(port) ssl \(listen);
                    ssl_certificate \(files.certificate(key));
                    ssl_certificate_key \(files.key(key));
                    \(server.joined(separator: "\n        "))
                }
            }
            """
        let file = scratch.directory.appendingPathComponent("nginx.conf")
        try Data(configuration.utf8).write(to: file)
        _ = try scratch.startProgram(try #require(path, "nginx is not installed"), ["-p", folder, "-c", file.path])
        try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
        return port
    }

    /// Starts a server whose page contains three values: the TLS version, `r` if the session was resumed, and `1` if
    /// the request was early data.
    static func startReporting(_ files: TLSFiles, as key: String, in scratch: Scratch) async throws -> UInt16 {
        try await start(
            files, as: key,
            server: [
                "ssl_protocols TLSv1.2 TLSv1.3;", "ssl_session_cache shared:sessions:1m;", "ssl_early_data on;",
                #"location / { return 200 "$ssl_protocol $ssl_session_reused $ssl_early_data\n"; }"#,
            ], in: scratch)
    }

    /// Fetches the page over a new connection with these parameters.
    static func page(from port: UInt16, _ parameters: NWParameters) async throws -> String {
        let connection = TLSParty.connection(to: port, parameters)
        defer { connection.cancel() }
        try await connection.open()
        try await connection.send(Data("GET / HTTP/1.0\r\nHost: server.test\r\n\r\n".utf8))
        let answer = String(decoding: try await connection.everything(), as: UTF8.self)
        return answer.split(separator: "\r\n\r\n").last.map(String.init) ?? ""
    }
}
