/// A user name and a password, for a server or a proxy.
package struct PasswordCredential: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package var username: String
    package var password: String

    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// A placeholder, so that neither the user name nor the password is printed.
    package var description: String { "(credential)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
