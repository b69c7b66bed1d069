import Foundation
import Testing

extension LoopbackInterop {
    /// Tests that `nw` reads the host name in a QUIC connection's first packet, which another library has encrypted.
    /// The result must equal that of tshark.
    @Suite("QUIC packets")
    struct QUICPacketTests {
        /// A capture of one packet: a client's Initial packet of QUIC version 1 with a ClientHello.
        static let capture = """
            1MOyoQIABAAAAAAAAAAAAP//AABlAAAAAAAAAAAAAACiAAAAogAAAEUAAKIAAQAAQBH2RsAAAgHAAAICw1ABuwCOAADPAAAAAQgAESIzRFVmdwAAQHQf\
            SUCbYTI8oRX8Sj8phy61Nc6hlbXbYpvxAmXLBoYZJUzEoIE++nC/Sf+q/NUs8rBYpZi+yM57wHdcxnDaTzUhtwWVWA1klBgXQbZvK3fF4GIIUsp1sdcK\
            Rtg4nImhutIaamyKLgbPEmmIEnx7IzKA55oIWQ==
            """

        @Test("nw read shows server name and protocols, as tshark does")
        func names() async throws {
            try await Scratch.run { scratch in
                let file = scratch.directory.appendingPathComponent("initial.pcap")
                try #require(Data(base64Encoded: Self.capture)).write(to: file)
                func output(_ arguments: [String]) async throws -> String {
                    let nw = try scratch.startNW(["read"] + arguments + [file.path])
                    #expect(try await nw.finished() == 0, "\(nw.errors)")
                    return String(decoding: nw.output, as: UTF8.self)
                }
                let header = "192.0.2.1.50000 > 192.0.2.2.443: quic, initial, dcid 0011223344556677, length 116"
                #expect(try await output(["-t"]) == "IP \(header)\n")
                let detailed = try await output(["-v"])
                #expect(detailed.hasSuffix("\(header): TLS ClientHello, SNI interop.example, ALPN h3,h3-29\n"))
                let json = try await output(["--json"])
                #expect(json.contains(#""tlsServerName":"interop.example","tlsProtocols":["h3","h3-29"]"#))
                guard Peer.find("tshark") != nil else { return print("SKIPPED: no tshark to compare with") }
                let field = "tls.handshake.extensions_server_name"
                let tshark = try scratch.startProgram("tshark", ["-n", "-r", file.path, "-T", "fields", "-e", field])
                #expect(try await tshark.finished() == 0, "\(tshark.errors)")
                #expect(String(decoding: tshark.output, as: UTF8.self) == "interop.example\n")
            }
        }
    }
}
