//! The source of clients: a Unix socket that only the user may open, or an address.

use rustix::fs::{Mode, chmod};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The address of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// `HOST:PORT`.
    Tcp(String),
}

pub(crate) enum Listener {
    Unix { socket: UnixListener, path: PathBuf },
    Tcp { socket: TcpListener, at: SocketAddr },
}

/// One connection.
pub(crate) enum SocketStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// The longest path of a Unix socket, in bytes: the system has 108, and the last is zero.
const LONGEST: usize = 107;

/// The message of the system, without the number of the error.
pub(crate) fn said(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn refused(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, what)
}

/// Makes way for a socket at a path: the socket of a server that is gone is removed, and nothing
/// else.
fn make_way(path: &Path) -> io::Result<()> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if !meta.file_type().is_socket() {
        return Err(refused(
            "the path has something that is not a socket, and it is left as it is".into(),
        ));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(refused("a server listens there already".into())),
        Err(e) if e.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(e) => Err(e),
    }
}

impl Listener {
    /// A socket at this path that only the user may open.
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        let length = path.as_os_str().len();
        if length > LONGEST {
            return Err(refused(format!(
                "the path of a socket has at most {LONGEST} bytes, and this has {length}"
            )));
        }
        make_way(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        bind(&socket, &SocketAddrUnix::new(path)?)?;
        // Nobody can connect before it listens.
        let ready = chmod(path, Mode::RUSR | Mode::WUSR).and_then(|()| listen(&socket, 16));
        if let Err(e) = ready {
            let _ = std::fs::remove_file(path);
            return Err(e.into());
        }
        Ok(Self::Unix { socket: socket.into(), path: path.to_owned() })
    }

    /// An address of this machine; beyond loopback only where the user insists.
    pub(crate) fn tcp(address: &str, insecure: bool) -> io::Result<Self> {
        let found: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
        if !insecure && found.iter().any(|at| !at.ip().is_loopback()) {
            return Err(refused(
                "this is beyond loopback, and there is no encryption and no password: everyone who \
                 reaches it can read and write the drive. `--insecure` allows it"
                    .into(),
            ));
        }
        let socket = TcpListener::bind(&found[..])?;
        socket.set_nonblocking(true)?;
        let at = socket.local_addr()?;
        Ok(Self::Tcp { socket, at })
    }

    /// The path of a Unix socket.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Unix { path, .. } => Some(path),
            Self::Tcp { .. } => None,
        }
    }

    /// The default place of the control socket.
    pub(crate) fn beside(&self) -> PathBuf {
        match self {
            Self::Unix { path, .. } => {
                let mut name = path.clone().into_os_string();
                name.push(".control");
                name.into()
            }
            Self::Tcp { at, .. } => format!("floatgate-{}.control", at.port()).into(),
        }
    }

    /// How clients of NBD name it.
    pub(crate) fn uri(&self) -> String {
        match self {
            Self::Unix { path, .. } => format!("nbd+unix:///?socket={}", path.display()),
            Self::Tcp { at, .. } => format!("nbd://{at}"),
        }
    }

    /// The next connection, if one waits.
    pub(crate) fn accept(&self) -> Option<SocketStream> {
        let stream = match self {
            Self::Unix { socket, .. } => {
                let (stream, _) = socket.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                SocketStream::Unix(stream)
            }
            Self::Tcp { socket, .. } => {
                let (stream, _) = socket.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                stream.set_nodelay(true).ok()?;
                SocketStream::Tcp(stream)
            }
        };
        Some(stream)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix { path, .. } = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix { socket, .. } => socket.as_fd(),
            Self::Tcp { socket, .. } => socket.as_fd(),
        }
    }
}

impl AsFd for SocketStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for SocketStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for SocketStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
