--- Finds the command that starts the server: the option `cmd`, the workspace's `.venv` if allowed, PATH; in that order.
local options = require('midfill.options')

local M = {}

local is_windows = vim.fn.has('win32') == 1

---@class midfill.Program
---@field cmd? string[] Nil: there is none.
---@field from string Where it was found, or why it was not.

---@param cmd string|string[]
---@return midfill.Program
local function from_option(cmd)
  local list = type(cmd) == 'string' and { cmd, 'serve' } or vim.list_slice(cmd --[[@as string[] ]])
  list[1] = vim.fs.normalize(list[1])
  if vim.fn.executable(list[1]) == 0 then
    return { from = ('option cmd: %s is not executable'):format(list[1]) }
  end
  return { cmd = list, from = 'option cmd' }
end

--- Where a virtual environment in `root` has the program.
---@param root string
---@return string
function M.in_workspace(root)
  return vim.fs.joinpath(root, '.venv', is_windows and 'Scripts/midfill.exe' or 'bin/midfill')
end

---@param root? string The workspace.
---@return midfill.Program
function M.find(root)
  local current = options.current
  if current.cmd then
    return from_option(current.cmd)
  end
  if current.workspace_venv and root then
    local program = M.in_workspace(root)
    if vim.fn.executable(program) == 1 then
      return { cmd = { program, 'serve' }, from = "the workspace's .venv" }
    end
  end
  local program = vim.fn.exepath('midfill')
  if program ~= '' then
    return { cmd = { program, 'serve' }, from = 'PATH' }
  end
  return { from = 'no program midfill in PATH' }
end

return M
