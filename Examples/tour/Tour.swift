import Causeway
import Foundation

/// `swift run tour`: shows what the library does, within one process and on free ports of this host.
///
/// Every part compares the bytes that arrive with the sent bytes. The exit code is 0 if all of them are equal.
@main
enum Tour {
    static func main() async {
        do {
            let socket = try TemporarySocket()
            defer { socket.remove() }
            for carrier in Carrier.all(socketPath: socket.path) {
                do {
                    try await Exchange(carrier: carrier).run()
                } catch NWError.posix(.EADDRNOTAVAIL) where carrier.isIPv6 {
                    print(Exchange.row(carrier.title, "skipped: this host does not have the address ::1"))
                }
            }
            try await NearbyService.run()
            try await Race.run()
            print("every byte verified")
        } catch {
            print("FAILED: \(error)")
            exit(1)
        }
    }
}

/// A reason why the tour ends early.
struct TourFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A path for a Unix-domain socket, in a private folder.
struct TemporarySocket {
    let path: String
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "causeway-tour-\(UUID().uuidString)")
        path = folder.appending(path: "socket").path
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
