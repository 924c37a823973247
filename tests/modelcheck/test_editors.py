"""Neovim and Emacs with the settings that `docs/how-to/use-an-editor.md` shows, driven without a screen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TINY = ROOT / "tests" / "modelcheck" / "tiny.rsm"
NEEDED = (0, 11)  # from which on an editor is set up as the page shows
ALONE = ("--batch", "-f", "package-initialize")  # with packages of the system, and no user's settings
SCRIPT = """
local function wait(what, found)
  assert(vim.wait(60000, found, 10), "never came: " .. what)
end
local function tell(text) io.stdout:write(text .. "\\n") end
local function titles()
  local function title(each) return each.command and each.command.title or "" end
  return vim.tbl_map(title, vim.lsp.codelens.get(0))
end
vim.cmd.edit("tiny.rsm")
wait("the server", function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end)
wait("marks", function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0 end)
for _, each in ipairs(vim.lsp.inlay_hint.get({ bufnr = 0 })) do
  tell("mark " .. each.inlay_hint.position.line + 1 .. " " .. each.inlay_hint.label)
end
vim.lsp.codelens.refresh()
wait("a verdict above its check", function() return vim.startswith(titles()[1] or "", "✓ as expected") end)
local story
for _, each in ipairs(vim.lsp.codelens.get(0)) do
  if each.command.command == "modelcheck.story" then story = each.command end
end
local client, model = vim.lsp.get_clients({ bufnr = 0 })[1], vim.api.nvim_get_current_buf()
vim.lsp.commands["modelcheck.story"](story, { client_id = client.id })
wait("the story", function() return vim.api.nvim_get_current_buf() ~= model end)
tell("story " .. vim.api.nvim_buf_get_lines(0, 0, 1, false)[1])
vim.cmd.quit()
vim.api.nvim_buf_set_lines(0, 24, 25, false, { "  require free: leader == nonex" })
wait("a mistake", function() return #vim.diagnostic.get(0) > 0 end)
tell("mistake " .. vim.diagnostic.get(0)[1].lnum + 1 .. " " .. vim.diagnostic.get(0)[1].message)
vim.cmd("qa!")
"""

LISP = """
(require 'eglot)
(setq eglot-sync-connect t)
(defun wait-for (what found)
  (let ((until (+ (float-time) 60)) (got nil))
    (while (and (not (setq got (funcall found))) (< (float-time) until))
      (accept-process-output nil 0.05))
    (or got (error "never came: %s" what))))
(defun tell (&rest parts) (princ (concat (apply #'format parts) "\n")))
(find-file "tiny.rsm")
(run-hooks 'post-command-hook)
(wait-for "the server" #'eglot-current-server)
(tell "mode %s" major-mode)
(goto-char (point-min))
(search-forward "check ")
(dolist (each (eglot-code-actions (line-beginning-position) (line-end-position)))
  (tell "action %s" (plist-get each :title)))
(goto-char (point-min))
(forward-line 24)
(delete-region (line-beginning-position) (line-end-position))
(insert "  require free: leader == nonex")
(eglot--signal-textDocument/didChange)
(dolist (each (wait-for "a mistake" (lambda () (flymake-start) (flymake-diagnostics))))
  (tell "mistake %d %s" (line-number-at-pos (flymake-diagnostic-beg each)) (flymake-diagnostic-text each)))
(kill-emacs 0)
"""


@pytest.fixture
def emacs() -> str:
    if find_spec("pygls") is None:
        pytest.skip("the package pygls is not installed")
    found = os.environ.get("EMACS_PROGRAM") or shutil.which("emacs")
    if found is None:
        pytest.skip("Emacs is not installed")
    has_eglot = [found, *ALONE, "--eval", "(kill-emacs (if (require 'eglot nil t) 0 1))"]
    if subprocess.run(has_eglot, capture_output=True, check=False).returncode:
        pytest.skip("this Emacs has no eglot")
    return found


def test_emacs_shows_actions_and_mistakes_with_the_settings_of_the_page(emacs: str, tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/use-an-editor.md").read_text(encoding="utf-8")
    settings = re.findall(r"^```elisp\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert page.count('("modelcheck" "serve" "lsp")') == 1
    server = f'("{sys.executable}" "-m" "modelcheck" "serve" "lsp")'
    (tmp_path / "init.el").write_text(
        settings[0].replace('("modelcheck" "serve" "lsp")', server), encoding="utf-8"
    )
    (tmp_path / "script.el").write_text(LISP, encoding="utf-8")
    shutil.copy(TINY, tmp_path)

    run = subprocess.run(
        [emacs, *ALONE, "-l", "init.el", "-l", "script.el"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    mode, action, *mistake = run.stdout.splitlines()
    assert mode == "mode rsm-mode", run.stderr
    assert action.startswith("action as_expected: run")
    assert mistake == ["mistake 25 modelcheck [R0208]: there is no `nonex`", "did you mean `none`?"]


@pytest.fixture
def nvim() -> str:
    if find_spec("pygls") is None:
        pytest.skip("the package pygls is not installed")
    found = os.environ.get("NVIM_PROGRAM") or shutil.which("nvim")
    if found is None:
        pytest.skip("Neovim is not installed")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"NVIM v(\d+)\.(\d+)", told)
    assert version is not None
    if tuple(map(int, version.groups())) < NEEDED:
        pytest.skip(f"{version[0]} is older than what the page is for")
    return found


def test_neovim_shows_verdicts_stories_and_mistakes_with_the_settings_of_the_page(
    nvim: str, tmp_path: Path
) -> None:
    page = (ROOT / "docs/how-to/use-an-editor.md").read_text(encoding="utf-8")
    settings = re.findall(r"^```lua\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    server = f'cmd = {{ "{sys.executable}", "-m", "modelcheck", "serve", "lsp" }}'
    assert page.count('cmd = { "modelcheck", "serve", "lsp" }') == 1
    (tmp_path / "init.lua").write_text(settings[0].replace('cmd = { "modelcheck", "serve", "lsp" }', server))
    (tmp_path / "script.lua").write_text(SCRIPT, encoding="utf-8")
    shutil.copy(TINY, tmp_path)
    alone = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")}

    run = subprocess.run(
        [nvim, "--clean", "-u", "init.lua", "--headless", "-c", "luafile script.lua", "-c", "qa!"],
        cwd=tmp_path,
        env={**os.environ, **alone, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert run.stdout.splitlines() == [
        *(f"mark {line} ✓" for line in (61, 64, 65, 66, 67, 72, 73, 74)),
        "story tiny · as_expected: as expected",
        "mistake 25 there is no `nonex`",
        "did you mean `none`?",
    ], run.stderr
