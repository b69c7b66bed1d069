import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Default credentials of a storage (§9)")
struct DefaultCredentialTests {
    let space = URLProtectionSpace(
        host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)

    func credential(_ user: String, _ persistence: URLCredential.Persistence = .permanent) -> URLCredential {
        URLCredential(user: user, password: "p", persistence: persistence)
    }

    @Test("The first credential of a space becomes its default, and so does the next one after the default was removed")
    func first() {
        let storage = URLCredentialStorage()
        storage.set(credential("none", .none), for: space)
        #expect(storage.defaultCredential(for: space) == nil)
        storage.set(credential("a"), for: space)
        storage.set(credential("b"), for: space)
        #expect(storage.defaultCredential(for: space)?.user == "a")
        storage.setDefaultCredential(credential("c"), for: space)
        storage.set(credential("d"), for: space)
        #expect(storage.defaultCredential(for: space)?.user == "c")
        storage.remove(credential("c"), for: space)
        #expect(storage.defaultCredential(for: space) == nil && storage.credentials(for: space)?.count == 3)
        // The credential is stored again, which makes it the default.
        storage.set(credential("b"), for: space)
        #expect(storage.defaultCredential(for: space)?.user == "b")
    }

    @Test("A change of the default is a change of the table, a repeated credential is none")
    func changes() {
        var table = CredentialTable(hasFile: true)
        table.load([space: CredentialTable.Entry(credentials: ["a": credential("a")], defaultUser: nil)])
        let stored = [("a", false), ("a", false), ("a", true), ("b", false)].map { user, isDefault in
            table.store(credential(user), for: space, asDefault: isDefault)
        }
        #expect(stored == [true, false, false, true])
        let changes = table.takeChanges()
        #expect(changes[space]?.defaultUser == "a" && changes[space]?.credentials.count == 2)
        #expect(table.defaultCredential(for: space)?.user == "a")
    }

    @Test("A default that was set implicitly outlives the storage; one for the session does not")
    func persists() {
        let path = NSTemporaryDirectory() + "causeway-default-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        func storage() -> URLCredentialStorage { URLCredentialStorage(directory: path, savesAtExit: false) }
        let one = storage()
        one.set(credential("s", .forSession), for: space)
        one.set(credential("a"), for: space)
        one.flush()
        #expect(one.defaultCredential(for: space)?.user == "s")
        let other = storage()
        #expect(other.credentials(for: space)?.keys.sorted() == ["a"] && other.defaultCredential(for: space) == nil)
        other.set(credential("b"), for: space)
        other.flush()
        let third = storage()
        #expect(third.defaultCredential(for: space)?.user == "b")
        // The default credential from the file still counts: another credential does not replace it.
        third.set(credential("c"), for: space)
        third.flush()
        #expect(storage().defaultCredential(for: space)?.user == "b")
        third.remove(credential("b"), for: space)
        third.flush()
        #expect(storage().defaultCredential(for: space) == nil)
    }
}
