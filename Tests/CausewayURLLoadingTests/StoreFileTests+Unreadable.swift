import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

/// Stores whose file cannot be read when they first need it.
extension StoreFileTests {
    @Test("Cookies of a file that cannot be read at first are read later")
    func cookiesLater() throws {
        let one = cookies()
        receive("a=1; Max-Age=1000", in: one)
        one.flush()
        let other = cookies()
        do {
            let file = try UnreadableFile(directory.path + "/cookies")
            #expect(other.cookies?.isEmpty == true)
            receive("b=1; Max-Age=1000", in: other)
            #expect(other.cookies?.map(\.name) == ["b"])
            _ = consume file
        }
        #expect(other.cookies?.map(\.name).sorted() == ["a", "b"])
        receive("c=1; Max-Age=1000", in: other)
        other.flush()
        #expect(cookies().cookies?.count == 3)
    }

    @Test("A credential that is stored while the others cannot be read is added to them")
    func credentialsLater() throws {
        let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
        func set(_ user: String, in storage: URLCredentialStorage) {
            storage.set(URLCredential(user: user, password: "p", persistence: .permanent), for: space)
        }
        func storage() -> URLCredentialStorage {
            URLCredentialStorage(directory: directory.path, place: .file, savesAtExit: false)
        }
        let one = storage()
        set("a", in: one)
        one.flush()
        let other = storage()
        do {
            let file = try UnreadableFile(directory.path + "/credentials")
            #expect(other.credentials(for: space) == nil)
            set("b", in: other)
            other.flush()
            _ = consume file
        }
        #expect(other.credentials(for: space)?.keys.sorted() == ["a", "b"])
        set("c", in: other)
        other.flush()
        #expect(storage().credentials(for: space)?.keys.sorted() == ["a", "b", "c"])
    }

    @Test("Hosts with strict transport security whose file cannot be read at first are read later")
    func hostsLater() throws {
        let one = StrictTransportStore(directory: directory.path, savesAtExit: false)
        var fields = FieldSection()
        fields.append("Strict-Transport-Security", "max-age=1000")
        one.note(try #require(StrictTransportPolicy(fields)), of: HTTPOrigin(isSecure: true, host: "h.example"))
        one.flush()
        let other = StrictTransportStore(directory: directory.path, savesAtExit: false)
        do {
            let file = try UnreadableFile(directory.path + "/strict-transport")
            #expect(other.isEmpty)
            _ = consume file
        }
        #expect(!other.isEmpty)
    }

    @Test("A file in a directory that cannot be used is not missing")
    func unusableDirectory() throws {
        let file = PrivateFile(directory: directory.path + "/folder", name: "file")
        #expect(try file.contents() == nil)
        try Data().write(to: URL(fileURLWithPath: directory.path))
        #expect(throws: SystemError(errno: ENOTDIR, call: "open")) { try file.contents() }
        #expect(file.read() == nil && !file.update { _ in [1] })
    }
}
